/** The code of structs, compared with their plain form, which serves where a runtime forbids code from text. @module */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { t } from "../../src/index.js";
import { compileCheck, compileWrite } from "../../src/schema/compile.js";
import { Faults } from "../../src/schema/faults.js";
import { leaves, odd, schemas, values } from "./_structs.js";

const { Function: make } = globalThis;
let isForbidden = false;
/** Functions that were made of text. */
let made = 0;

beforeEach(() => {
  isForbidden = false;
  made = 0;
  globalThis.Function = new Proxy(make, {
    construct(target, parts: string[]) {
      if (isForbidden) throw new EvalError("Code generation from strings disallowed for this context");
      made++;
      return Reflect.construct(target, parts);
    },
  });
});

afterEach(() => {
  globalThis.Function = make;
});

/** The outcome with code, and without it. */
function bothOf<Result>(compile: () => (value: unknown, faults: Faults) => Result, value: unknown) {
  return [false, true].map((forbidden) => {
    isForbidden = forbidden;
    const faults = new Faults();
    const result = compile()(value, faults);
    return { result: faults.count > 0 ? null : result, faults: faults.list };
  });
}

describe("an object schema", () => {
  it.each(["decode", "encode"] as const)("is the same without generated code, in the direction %s", (direction) => {
    const property = fc.property(schemas, values, (schema, value) => {
      const [coded, plain] = bothOf(() => compileCheck(schema(), direction), value);
      expect(plain).toEqual(coded);
    });
    fc.assert(property, { numRuns: fc.runs(1_500) });
    expect(made).toBeGreaterThan(fc.runs(100));
  });

  it("is the same for each kind of property and each value of it", () => {
    for (const leaf of leaves) {
      const schema = () => t.Object({ a: leaf(), b: t.Optional(t.Integer()) });
      for (const value of odd.map((a) => ({ a, b: 1 }))) {
        for (const direction of ["decode", "encode"] as const) {
          const [coded, plain] = bothOf(() => compileCheck(schema(), direction), value);
          expect(plain).toEqual(coded);
        }
        const [coded, plain] = bothOf(() => compileWrite(schema()), value);
        expect(plain).toEqual(coded);
      }
    }
    expect(made).toBeGreaterThan(1_000);
  });

  it("is written the same without generated code", () => {
    const property = fc.property(schemas, values, (schema, value) => {
      const [coded, plain] = bothOf(() => compileWrite(schema()), value);
      expect(plain).toEqual(coded);
    });
    fc.assert(property, { numRuns: fc.runs(1_500) });
    expect(made).toBeGreaterThan(fc.runs(100));
  });

  it.each([
    ["a bound that is text", { minimum: "0) || globalThis.broken++ || (0" }],
    ["a length that is text", { type: "string", maxLength: "9 || globalThis.broken++" }],
    ["a bound that is no number", { minimum: Number.NaN }],
  ])("executes no code of a schema: %s", (_case, rules) => {
    const schema = { ...t.Object({ a: t.Integer() }), properties: { a: { type: "integer", ...rules } } };
    for (const value of [{ a: 1 }, { a: "text" }]) {
      const [coded, plain] = bothOf(() => compileCheck(schema as never, "decode"), value);
      expect(plain).toEqual(coded);
    }
    expect(globalThis).not.toHaveProperty("broken");
  });

  it("has no code with more than 64 properties, or with the name of what every object has", () => {
    const members = Object.fromEntries(
      Array.from({ length: 65 }, (_, index) => [`p${index}`, t.Optional(t.Integer())]),
    );
    for (const schema of [t.Object(members), t.Object({ toString: t.Integer() })]) {
      compileCheck(schema, "decode")({ p0: 1, toString: 1 }, new Faults());
      compileWrite(schema)({ p0: 1, toString: 1 }, new Faults());
    }
    expect(made).toBe(0);
  });
});
