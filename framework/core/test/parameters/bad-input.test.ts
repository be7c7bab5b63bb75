/** Every wrong value for every kind of parameter: a 4xx response with the right location, and never a 500. */
import { expect, it } from "@jest/globals";
import { Body, Cookie, Form, Header, type Params, Path, Query, type Schema, t } from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import type { Probed } from "../../../test/support/probe.js";
import type { Sent } from "../../../test/support/call.js";

const SCHEMAS = {
  integer: t.Integer(),
  number: t.Number(),
  boolean: t.Boolean(),
  date: t.Date(),
  enum: t.Enum({ A: "a", One: 1 }),
  literal: t.Literal(5),
  uuid: t.String({ format: "uuid" }),
  pattern: t.String({ pattern: "^[a-z]{3}$" }),
  bounded: t.String({ minLength: 1, maxLength: 3 }),
  union: t.Union([t.Integer(), t.Boolean()]),
  nullable: t.Union([t.Integer(), t.Null()]),
  list: t.Array(t.Integer(), { minItems: 1, maxItems: 3 }),
  tuple: t.Tuple([t.Integer(), t.Integer()]),
};

const TEXTS = {
  "an empty text": "",
  "an over-long text": "x".repeat(5000),
  "a row of digits": "9".repeat(5000),
  "a prototype's name": "__proto__",
  "a method of every object": "constructor",
  "an integer of 23 digits": "12345678901234567890123",
  "not a number": "NaN",
  "more than a number holds": "1e400",
  null: "null",
  undefined: "undefined",
  "an object": '{"a":1}',
  "a shown object": "[object Object]",
  "a list": "1,2",
  "a NUL": "\0",
  "line breaks": "\r\nX-Injected: 1",
  "a space": " ",
  "a lone surrogate as bytes": "\uFFFD",
  "text right to left": "\u202Eabc",
  "a path": "../../etc/passwd",
};

/** The texts above that each schema accepts. */
const TEXT_FITS: Partial<Record<string, readonly string[]>> = {
  number: ["an integer of 23 digits"],
  bounded: ["not a number", "a list", "a NUL", "a space", "a lone surrogate as bytes"],
};

/** Schemas of arrays, for which a comma in a header separates items. */
const LISTS = new Set(["list", "tuple"]);

/** The requests that send a text under the name `x`; empty if it cannot be sent. */
type Send = (text: string) => readonly (readonly [target: string, sent: Sent])[];

/** A header's value cannot have control characters, and is latin-1. */
// oxlint-disable-next-line no-control-regex
const HEADER_TEXT = /^[^\u0000-\u001f\u0100-\uffff]*$/;

const KINDS: Record<string, { marker: (schema: Schema) => Params[string]; path?: string; send: Send }> = {
  path: {
    marker: (schema) => Path(schema),
    path: "/{x}",
    // An empty segment is not a value of a path.
    send: (text) => (text === "" ? [] : [[`/${encodeURIComponent(text)}`, {}]]),
  },
  query: { marker: (schema) => Query(schema), send: (text) => [[`/?x=${encodeURIComponent(text)}`, {}]] },
  header: {
    marker: (schema) => Header(schema),
    send: (text) => (HEADER_TEXT.test(text) ? [["/", { headers: [["x", text]] }]] : []),
  },
  cookie: {
    marker: (schema) => Cookie(schema),
    send: (text) => [["/", { headers: [["cookie", `x=${encodeURIComponent(text)}`]] }]],
  },
  form: { marker: (schema) => Form(schema), send: (text) => [["/", { form: [["x", text]] }]] },
};

/** `422 at query.x`, followed by any deviations. `depth` limits how much of each error's location is shown. */
function refusal(answer: Probed, depth: number): string {
  const places = new Set(answer.faults.map((fault) => fault.loc.slice(0, depth).join(".")));
  const wrong = [
    answer.args && "called",
    answer.log.length > 0 && "logged",
    answer.text.length > 2000 && "long",
    "x-injected" in answer.headers && "injected",
    answer.faults.some(({ msg }) => !/^[A-Z]/.test(msg)) && "without a message",
  ];
  return [`${answer.status} at ${[...places].join(" and ")}`, ...wrong.filter(Boolean)].join(", ");
}

const TEXT_CASES = Object.keys(KINDS).flatMap((kind) =>
  Object.entries(SCHEMAS).map(([name, schema]) => ({ kind, name, schema })),
);

describeMatrix("text that does not fit", ({ probe }) => {
  it.each(TEXT_CASES)("is rejected as $name in the $kind", async ({ kind, name, schema }) => {
    const { marker, path, send } = KINDS[kind]!;
    const ask = probe({ x: marker(schema) }, path === undefined ? {} : { path });
    const requests = Object.entries(TEXTS)
      .filter(([what]) => !TEXT_FITS[name]?.includes(what))
      .filter(([what]) => !(what === "a list" && kind === "header" && LISTS.has(name)))
      .flatMap(([, text]) => send(text) ?? []);
    expect(requests.length).toBeGreaterThan(0);
    for (const [target, sent] of requests) {
      expect(refusal(await ask(target, sent), 2)).toBe(`422 at ${kind}.x`);
    }
  });

  it.each(Object.keys(KINDS).filter((kind) => kind !== "path"))(
    "is missing in the %s if it is absent",
    async (kind) => {
      for (const schema of Object.values(SCHEMAS)) {
        const answer = await probe({ x: KINDS[kind]!.marker(schema) })("/");
        expect(answer.faults).toMatchObject([{ type: "missing", loc: [kind, "x"] }]);
      }
    },
  );

  it("in the path results in 400 if it is not UTF-8", async () => {
    const ask = probe({ x: t.String() }, { path: "/{x}" });
    for (const path of ["/%ED%A0%80", "/%FF", "/%"]) expect((await ask(path)).status).toBe(400);
  });

  it("repeated a thousand times is one error for a scalar, and limited for an array", async () => {
    const many = Array.from({ length: 1000 }, () => "x=a").join("&");
    const scalar = await probe({ x: t.Integer() })(`/?${many}`);
    expect(scalar.faults).toHaveLength(1);
    const list = await probe({ x: t.Array(t.Integer()) })(`/?${many}`);
    expect(list.faults).toHaveLength(100);
  });
});

const JSON_VALUES: Record<string, unknown> = {
  null: null,
  true: true,
  "a number": 1.5,
  "a huge number": 1e300,
  "an unsafe integer": 2 ** 60,
  "empty text": "",
  text: "text!",
  "long text": "x".repeat(10_000),
  "a prototype's name": "__proto__",
  "an empty list": [],
  "a list": [null],
  "a nested list": [[[[]]]],
  "an empty object": {},
  "an object": { a: 1 },
  "an object like a list": { length: 1, 0: 1 },
  "an object like a date": { getTime: 1, toISOString: "x" },
  "an object like text": { toString: "x", valueOf: "x" },
  "an object like a promise": JSON.parse('{"then":"x"}') as unknown,
  "a constructor": { constructor: { prototype: { x: 1 } } },
};

/** The values above that each schema accepts. */
const FITS: Partial<Record<string, readonly string[]>> = {
  number: ["a number", "a huge number", "an unsafe integer"],
  boolean: ["true"],
  union: ["true"],
  nullable: ["null"],
};

/** Texts that no `JSON.stringify` writes. */
const RAW_JSON = {
  "an integer of 23 digits": ["12345678901234567890123", ["number"]],
  "more than a number holds": ["1e400", []],
  "less than a number holds": ["-1e400", []],
  "a lone surrogate": ['"\\ud800"', []],
  "surrogates the wrong way round": ['"\\udc00\\ud800"', []],
  "a lone surrogate in a name": ['{"\\ud800":1}', []],
  "the prototype": ['{"__proto__":{"x":1}}', []],
} as const;

describeMatrix("JSON that does not fit", ({ probe }) => {
  it.each(Object.entries(SCHEMAS))("is rejected as %s, as the whole body and as a member", async (name, schema) => {
    const whole = probe({ body: Body(schema) });
    const member = probe({ x: Body(schema), y: Body(t.Optional(t.String())) });
    for (const [kind, value] of Object.entries(JSON_VALUES)) {
      if (FITS[name]?.includes(kind)) continue;
      expect(refusal(await whole("/", { text: JSON.stringify(value) }), 1)).toBe("422 at body");
      expect(refusal(await member("/", { json: { x: value } }), 2)).toBe("422 at body.x");
    }
    for (const [text, fits] of Object.values(RAW_JSON)) {
      if ((fits as readonly string[]).includes(name)) continue;
      expect(refusal(await whole("/", { text }), 1)).toBe("422 at body");
      expect(refusal(await member("/", { text: `{"x":${text}}` }), 2)).toBe("422 at body.x");
    }
    expect(refusal(await member("/", { json: {} }), 2)).toBe("422 at body.x");
    expect(refusal(await whole("/"), 1)).toBe("422 at body");
  });

  it("is rejected if text of any kind, or a record of anything, is expected", async () => {
    expect(refusal(await probe({ body: Body() })("/", { text: '"\\ud800"' }), 1)).toBe("422 at body");
    expect(refusal(await probe({ body: t.Record(t.String(), t.Unknown()) })("/", { text: '{"\\ud800":1}' }), 1)).toBe(
      "422 at body",
    );
    expect(
      refusal(await probe({ body: t.Object({ a: t.Array(t.String()) }) })("/", { text: '{"a":["\\ud800"]}' }), 2),
    ).toBe("422 at body.a");
  });

  it.each(["null", "[]", "5", '"x"', "true"])("is one error if an object is required: %s", async (text) => {
    const answer = await probe({ body: t.Object({ a: t.Integer(), b: t.Integer() }) })("/", { text });
    expect(answer.faults).toMatchObject([{ type: "object_type", loc: ["body"] }]);
  });
});

describeMatrix("a body that cannot be read", ({ probe }) => {
  const bodies: [string, Sent][] = [
    ["nothing", {}],
    ["nothing, as JSON", { headers: [["content-type", "application/json"]] }],
    ["JSON without a type", { body: Buffer.from("{}") }],
    ["JSON as text", { text: "{}", headers: [["content-type", "text/plain"]] }],
    ["JSON as a form", { text: "{}", headers: [["content-type", "application/x-www-form-urlencoded"]] }],
    ["a form as JSON", { form: "a=1", headers: [["content-type", "application/json"]] }],
    ["half of it", { text: '{"a":' }],
    ["bytes", { body: Buffer.from([0xff, 0xfe, 0x00]), headers: [["content-type", "application/json"]] }],
    ["UTF-16", { body: Buffer.from('{"a":1}', "utf16le"), headers: [["content-type", "application/json"]] }],
    ["brackets without end", { text: "[".repeat(100_000) }],
    ["a depth of 100,000", { text: `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}` }],
    ["a type of nothing but separators", { text: "{}", headers: [["content-type", ";;/;"]] }],
  ];

  it.each(bodies)("is 422 at `body`: %s", async (_case, sent) => {
    expect(refusal(await probe({ body: t.Object({ a: t.Integer() }) })("/", sent), 1)).toBe("422 at body");
  });

  it.each(bodies.filter(([name]) => name !== "JSON as a form"))("is 422 at `form`: %s", async (_case, sent) => {
    expect(refusal(await probe({ a: Form(t.Integer()) })("/", sent), 1)).toBe("422 at form");
  });
});
