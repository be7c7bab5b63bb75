/** The writer of results, compared with its plain twin: the check, followed by `JSON.stringify`. @module */
import { expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { t } from "../../src/index.js";
import { compileCheck, compileWrite } from "../../src/schema/compile.js";
import { Faults } from "../../src/schema/faults.js";
import { schemas, values } from "./_structs.js";

it("writes the same text as JSON.stringify for the checked value, and finds the same errors", () => {
  let written = 0;
  const property = fc.property(schemas, values, (make, value) => {
    const schema = make();
    const [checkFaults, writeFaults] = [new Faults(), new Faults()];
    const checked = compileCheck(schema, "encode")(value, checkFaults);
    const text = compileWrite(schema)(value, writeFaults);
    expect(writeFaults.list).toEqual(checkFaults.list);
    if (checkFaults.count > 0) return;
    expect(text).toBe(JSON.stringify(checked));
    written++;
  });
  fc.assert(property, { numRuns: fc.runs(1_500) });
  expect(written).toBeGreaterThan(fc.runs(50));
});

it("reports errors of validation, and not of JSON, for a value that only some parts can represent", () => {
  const schema = t.Object({ a: t.String(), b: t.Unknown() });
  const faults = new Faults();
  compileWrite(schema)({ a: 1, b: 1n }, faults);
  expect(faults.list).toEqual([{ type: "string_type", loc: ["a"], msg: "Input should be a valid string", input: 1 }]);
  expect(() => compileWrite(schema)({ a: "1", b: 1n }, new Faults())).toThrow("A handler cannot return a bigint");
});
