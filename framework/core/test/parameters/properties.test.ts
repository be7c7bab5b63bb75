/** Properties that apply to every input. */
import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { Body, Cookie, Form, Header, Path, Query, Response, type Schema, t } from "../../src/index.js";
import { parseCookies } from "../../src/http/request/cookies.js";
import { headerValue, headerValues, parseHeaders } from "../../src/protocol/header-list.js";
import { JSONError, parseJSON } from "../../src/http/request/json.js";
import { compileReturns, compileSchema } from "../../src/schema/schema.js";
import { Faults } from "../../src/schema/faults.js";
import { compileCheck } from "../../src/schema/compile.js";
import { probe } from "../../../test/support/probe.js";

type TSchema = Extract<Schema, { static: unknown }>;

const text = fc.unicode({ maxLength: 20 });
const oddText = fc.oneof(
  text,
  fc.constantFrom("__proto__", "constructor", "NaN", "1e400", "null", "true", "5", "-0", "2024-01-01T00:00:00Z"),
);

/**
 * Schemas of every kind that JSON can carry, nested, except for those that depend on removed properties: a closed
 * object schema, and an array with unique items.
 */
const { schema: anySchema } = fc.letrec<{ schema: TSchema; leaf: TSchema }>((tie) => ({
  leaf: fc.oneof(
    fc.constant(t.String()),
    fc.record({ minLength: fc.nat(3), maxLength: fc.integer({ min: 3, max: 9 }) }).map((options) => t.String(options)),
    fc.constantFrom("uuid", "date", "email").map((format) => t.String({ format })),
    fc.constant(t.Integer()),
    fc
      .record({ minimum: fc.integer({ min: -5, max: 0 }), maximum: fc.integer({ min: 1, max: 9 }) })
      .map((options) => t.Integer(options)),
    fc.constant(t.Number()),
    fc.constant(t.Boolean()),
    fc.constant(t.Null()),
    fc.constant(t.Date()),
    fc.constant(t.Unknown()),
    fc.constant(t.Enum({ A: "a", B: 1 })),
    fc.constant(t.Literal("x")),
  ),
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    tie("leaf"),
    tie("schema").map((items) => t.Array(items)),
    fc.array(tie("schema"), { maxLength: 3 }).map((items) => t.Tuple(items)),
    tie("schema").map((value) => t.Record(t.String(), value)),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((members) => t.Union(members)),
    fc
      .tuple(
        fc.dictionary(fc.constantFrom("a", "b", "c", "constructor", "then"), fc.tuple(tie("schema"), fc.boolean()), {
          maxKeys: 4,
        }),
        fc.constantFrom({}, { additionalProperties: true }),
      )
      .map(([properties, options]) => {
        const inner = Object.entries(properties).map(([key, [schema, isOptional]]) => [
          key,
          isOptional ? t.Optional(schema) : schema,
        ]);
        return t.Object(Object.fromEntries(inner), options);
      }),
    fc
      .tuple(tie("schema"), tie("schema"))
      .map(([a, b]) => t.Intersect([t.Object({ a }), t.Object({ b: t.Optional(b) })]) as TSchema),
  ),
}));

/** Values that mostly fit a schema, so that the checks are passed as often as not. */
function valueFor(schema: TSchema): fc.Arbitrary<unknown> {
  const own = fittingValue(schema);
  return fc.oneof({ weight: 8, arbitrary: own }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) });
}

function fittingValue(schema: Record<string, unknown>): fc.Arbitrary<unknown> {
  const inner = (one: unknown) => valueFor(one as TSchema);
  if (schema["const"] !== undefined) return fc.constant(schema["const"]);
  if (Array.isArray(schema["anyOf"])) return fc.oneof(...schema["anyOf"].map(inner));
  if (Array.isArray(schema["allOf"])) {
    return fc.tuple(...schema["allOf"].map(inner)).map((parts) => Object.assign({}, ...parts) as unknown);
  }
  switch (schema["type"]) {
    case "string":
      if (schema["format"] === "uuid") return fc.uuid();
      if (schema["format"] === "date") return fc.constant("2024-02-29");
      return fc.string({ minLength: 0, maxLength: 6 });
    case "integer":
      return fc.integer({ min: -6, max: 10 });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "Date":
      return fc
        .date({ min: new Date(0), max: new Date("2999-01-01"), noInvalidDate: true })
        .map((date) => date.toISOString());
    case "array":
      return Array.isArray(schema["items"]) && schema["items"].length > 0
        ? fc.tuple(...schema["items"].map(inner))
        : schema["items"] === undefined
          ? fc.constant([])
          : fc.array(inner(schema["items"]), { maxLength: 3 });
    case "object": {
      const properties = Object.entries((schema["properties"] ?? {}) as Record<string, unknown>);
      const pattern = Object.values((schema["patternProperties"] ?? {}) as Record<string, unknown>)[0];
      const rest =
        pattern === undefined
          ? fc.constant({})
          : fc.dictionary(fc.string({ maxLength: 3 }), inner(pattern), { maxKeys: 3 });
      const required = fc.record(Object.fromEntries(properties.map(([key, one]) => [key, inner(one)])), {
        requiredKeys: (schema["required"] ?? []) as string[],
      });
      return fc.tuple(rest, required).map(([left, right]) => ({ ...left, ...right }));
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const schemaAndValue = anySchema.chain((schema) => fc.tuple(fc.constant(schema), valueFor(schema)));

describe("any input", () => {
  it("as target, headers, cookies and body results in 200, 400, 404, 413 or 422 without log entries", async () => {
    const ask = probe(
      {
        p: Path(t.Union([t.Integer(), t.Date(), t.String({ maxLength: 5 })])),
        q: Query(t.Array(t.Union([t.Boolean(), t.Literal("x"), t.Integer()])), { default: [] }),
        o: Query(
          t.Object({ a: t.Optional(t.Integer()), b: t.Number({ default: 1 }) }, { additionalProperties: false }),
        ),
        h: Header(t.Optional(t.Number())),
        c: Cookie(t.Optional(t.Boolean())),
        body: Body(t.Union([t.Object({ a: t.Date() }), t.Array(t.Integer()), t.String()]), { default: null }),
      },
      { path: "/{p}" },
    );
    const latin1 = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 30,
    });
    const target = fc.oneof(latin1, oddText.map(encodeURIComponent), fc.constantFrom("%", "%FF", "%2F", ".", ".."));
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc.json().map((json) => Buffer.from(json)),
      fc
        .string({ unit: fc.constantFrom(...'[]{},:"\\u0d8bc e1-.tnf'.split("")), maxLength: 30 })
        .map((json) => Buffer.from(json)),
    );
    await fc.assert(
      fc.asyncProperty(
        target,
        fc.array(fc.tuple(fc.constantFrom("q", "a", "b", "z", "__proto__"), target), { maxLength: 4 }),
        latin1,
        latin1,
        fc.option(fc.oneof(fc.constant("application/json"), latin1)),
        body,
        async (path, query, header, cookie, contentType, bytes) => {
          const queryString = query.map(([key, value]) => `${key}=${value}`).join("&");
          const type = contentType === null ? [] : [["content-type", contentType] as const];
          const headers = [["h", header] as const, ["cookie", `c=${cookie}`] as const, ...type];
          const answer = await ask(`/${path.replaceAll("?", "")}?${queryString}`, { headers, body: bytes });
          expect([200, 400, 404, 413, 422]).toContain(answer.status);
          expect(answer.log).toEqual([]);
          for (const fault of answer.faults)
            expect(["path", "query", "header", "cookie", "body"]).toContain(fault.loc[0]);
        },
      ),
      { numRuns: fc.runs(300) },
    );
  });

  it("as a form results in 200, 413 or 422", async () => {
    const ask = probe({
      a: Form(t.Integer()),
      b: Form(t.Array(t.Number()), { default: [] }),
      c: Form({ default: null }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: fc.constantFrom(..."abc=&%+1.e2Fé\0".split("")) }), text),
        async (form) => {
          const answer = await ask("/", { form });
          expect([200, 413, 422]).toContain(answer.status);
        },
      ),
      { numRuns: fc.runs(300) },
    );
  });
});

describe("for every schema and every value", () => {
  it("an encoded value decodes to the same value again", () => {
    let taken = 0;
    fc.assert(
      fc.property(schemaAndValue, ([schema, value]) => {
        const sent: unknown = JSON.parse(JSON.stringify(value));
        const { check } = compileSchema(schema);
        const encode = compileReturns(schema);
        const faults = new Faults();
        const decoded = check(sent, faults);
        if (faults.count > 0) return;
        taken++;
        const written = encode(decoded, faults) as string;
        const encoded: unknown = JSON.parse(written);
        expect(faults.list).toEqual([]);
        expect(check(encoded, faults)).toEqual(decoded);
        expect(encode(check(encoded, faults), faults)).toBe(written);
        expect(faults.list).toEqual([]);
      }),
      { numRuns: fc.runs(1500) },
    );
    expect(taken).toBeGreaterThan(fc.runs(250));
  });

  it("a result is written as JSON.stringify writes the validated result, with the same errors", () => {
    fc.assert(
      fc.property(schemaAndValue, fc.boolean(), ([schema, value], isDecoded) => {
        const result = isDecoded ? compileSchema(schema).check(value, new Faults()) : value;
        const [written, checked] = [new Faults(), new Faults()];
        const json = compileReturns(schema)(result, written);
        const copy = compileCheck(schema, "encode")(result, checked);
        expect(written.list).toEqual(checked.list);
        if (checked.count === 0) expect(json).toBe(JSON.stringify(copy));
      }),
      { numRuns: fc.runs(1500) },
    );
  });

  it("a check does not modify its input, and reports only errors within the value", () => {
    fc.assert(
      fc.property(schemaAndValue, ([schema, value]) => {
        const sent: unknown = JSON.parse(JSON.stringify(value));
        const before = JSON.stringify(sent);
        const faults = new Faults();
        compileSchema(schema).check(sent, faults);
        expect(JSON.stringify(sent)).toBe(before);
        for (const { type, loc } of faults.list) {
          let place = sent;
          for (const key of type === "missing" ? loc.slice(0, -1) : loc) {
            expect(Object.hasOwn(place as object, key)).toBe(true);
            place = (place as Record<string | number, unknown>)[key];
          }
        }
      }),
      { numRuns: fc.runs(1000) },
    );
  });
});

describe("text", () => {
  it("is an integer exactly when it is digits with an optional sign and safe", async () => {
    const ask = probe({ n: t.Integer() });
    const digits = fc.oneof(
      fc.string({ unit: fc.constantFrom(..."+-0123456789.eE x".split("")), maxLength: 20 }),
      fc.maxSafeInteger().map(String),
    );
    await fc.assert(
      fc.asyncProperty(digits, async (given) => {
        const answer = await ask(`/?n=${encodeURIComponent(given)}`);
        const isInteger = /^[+-]?[0-9]+$/.test(given) && Number.isSafeInteger(Number(given));
        expect(answer.status).toBe(isInteger ? 200 : 422);
        if (isInteger) expect(answer.args).toEqual({ n: Number(given) + 0 });
      }),
    );
  });

  it("is a number whenever JavaScript writes one so", async () => {
    const ask = probe({ n: t.Number() });
    await fc.assert(
      fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async (value) => {
        expect((await ask(`/?n=${encodeURIComponent(value)}`)).args).toEqual({
          n: value === 0 ? expect.closeTo(0) : value,
        });
      }),
    );
  });

  it("of a query, a form and a cookie is received unchanged", async () => {
    const ask = probe({ q: Query(), c: Cookie() });
    const form = probe({ f: Form() });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", minLength: 1 }), async (given) => {
        const response = new Response();
        response.setCookie("c", given);
        const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
        const answer = await ask(`/?q=${encodeURIComponent(given)}`, { headers: [["cookie", cookie]] });
        expect(answer.args).toEqual({ q: given, c: given });
        expect((await form("/", { form: [["f", given]] })).args).toEqual({ f: given });
      }),
    );
  });

  it("is a date-time whenever a Date writes it so", async () => {
    const ask = probe({ d: t.Date(), s: t.String({ format: "date-time" }) });
    await fc.assert(
      fc.asyncProperty(
        fc.date({
          min: new Date("0000-01-01T00:00:00Z"),
          max: new Date("9999-12-31T23:59:59.999Z"),
          noInvalidDate: true,
        }),
        async (date) => {
          const iso = date.toISOString();
          expect((await ask(`/?d=${iso}&s=${iso}`)).args).toEqual({ d: date, s: iso });
        },
      ),
    );
  });
});

describe("the parsers", () => {
  it("of JSON accept the same texts as JSON.parse", () => {
    const json = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom(...'[]{},:"\\u0d8bc e1-.tnf\n'.split("")) }),
      fc.string({ unit: "grapheme" }),
    );
    fc.assert(
      fc.property(json, (given) => {
        fc.pre(!given.includes("__proto__"));
        const expected = attempt(() => JSON.parse(given) as unknown);
        const actual = attempt(() => parseJSON(Buffer.from(given), 1000));
        if (expected.error) expect(actual.error).toBeInstanceOf(JSONError);
        else expect(actual).toEqual(expected);
      }),
      { numRuns: fc.runs(1000) },
    );
  });

  it("of JSON never give a key `__proto__`, however it is written", () => {
    const key = fc
      .tuple(
        ..."__proto__"
          .split("")
          .map((char) =>
            fc.constantFrom(
              char,
              `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
              `\\u${char.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`,
            ),
          ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(key, fc.nat(5), (written, depth) => {
        const value = parseJSON(Buffer.from(`${'{"a":'.repeat(depth)}{"${written}":{"x":1}}${"}".repeat(depth)}`), 100);
        expect(JSON.stringify(value)).toBe(`${'{"a":'.repeat(depth)}{}${"}".repeat(depth)}`);
      }),
    );
  });

  it("of headers agree with each other", () => {
    const name = fc.constantFrom("a", "A", "cookie", "Cookie", "x-y", "__proto__", "constructor");
    const value = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        const headers = pairs.map(([key, one]) => [Buffer.from(key, "latin1"), Buffer.from(one, "latin1")] as const);
        const record = parseHeaders(headers);
        for (const key of ["a", "cookie", "x-y", "__proto__", "constructor", "none"]) {
          expect(headerValue(headers, key)).toBe(record[key]);
          expect(headerValues(headers, key)).toEqual(
            pairs.filter(([one]) => one.toLowerCase() === key).map(([, one]) => one),
          );
        }
      }),
    );
  });

  it("of cookies give each name once, and only text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab=;% "\\41,__proto__'.split("")) }), (header) => {
        for (const [name, value] of Object.entries(parseCookies(header))) {
          expect(name).toBe(name.trim());
          expect(typeof value).toBe("string");
        }
      }),
    );
  });
});

function attempt(run: () => unknown): { value?: unknown; error?: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}
