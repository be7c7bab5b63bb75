import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Body, File, Form, type Params, Query, type Schema, t } from "../../src/index.js";
import { FAULT_TYPES, type FaultType } from "../../src/schema/faults.js";
import { probe } from "../../../test/support/probe.js";
import type { Sent } from "../../../test/support/call.js";
import { multipart, rawMultipart } from "../../../test/support/multipart.js";

const page = readFileSync(path.join(import.meta.dirname, "../../../docs/validation-errors.md"), "utf8");
const rows = [...page.slice(page.indexOf("## Types")).matchAll(/^\| `(\w+)`\s*\| (.*?)\s*\|$/gm)].slice(1);

type Provoked = readonly [annotation: Params[string], target: string, sent?: Sent];

const json = (value: unknown): Sent => ({ json: value });
const body = (schema: Schema, value: unknown): Provoked => [Body(schema), "/", json(value)];

/** A request that results in each of them. */
const REQUESTS: Record<FaultType, Provoked> = {
  missing: [Query(), "/"],
  extra_forbidden: [Query(t.Object({}, { additionalProperties: false })), "/?a=1"],
  content_type: [Form(), "/", json(1)],
  form_invalid: [File(), "/", rawMultipart("")],
  file_type: [File({ alias: "x" }), "/", multipart(["x", "text"])],
  json_invalid: [Body(), "/", { text: "{" }],
  string_type: body(t.String(), 5),
  string_unicode: [Body(t.String()), "/", { text: '"\\ud800"' }],
  string_too_short: [t.String({ minLength: 2 }), "/?x=1"],
  string_too_long: [t.String({ maxLength: 2 }), "/?x=123"],
  string_pattern_mismatch: [t.String({ pattern: "^a" }), "/?x=b"],
  string_format: [t.String({ format: "uuid" }), "/?x=b"],
  int_type: body(t.Integer(), "5"),
  int_parsing: [t.Integer(), "/?x=a"],
  int_size: body(t.Integer(), 2 ** 53),
  float_type: body(t.Number(), "5"),
  float_parsing: [t.Number(), "/?x=a"],
  finite_number: [t.Number(), "/?x=1e400"],
  greater_than: [t.Number({ exclusiveMinimum: 0 }), "/?x=0"],
  greater_than_equal: [t.Number({ minimum: 0 }), "/?x=-1"],
  less_than: [t.Number({ exclusiveMaximum: 0 }), "/?x=0"],
  less_than_equal: [t.Number({ maximum: 0 }), "/?x=1"],
  multiple_of: [t.Number({ multipleOf: 2 }), "/?x=1"],
  bool_type: body(t.Boolean(), 1),
  bool_parsing: [t.Boolean(), "/?x=maybe"],
  null_type: body(t.Null(), 1),
  datetime_type: body(t.Date(), 1),
  datetime_parsing: [t.Date(), "/?x=now"],
  literal_error: [t.Literal("a"), "/?x=b"],
  enum: [t.Enum({ A: "a", B: "b" }), "/?x=c"],
  object_type: body(t.Object({}), []),
  list_type: body(t.Array(t.Integer()), {}),
  too_short: [t.Array(t.Integer(), { minItems: 2 }), "/?x=1"],
  too_long: body(t.Record(t.String(), t.Integer(), { maxProperties: 0 }), { a: 1 }),
  unique_items: [t.Array(t.Integer(), { uniqueItems: true }), "/?x=1&x=1"],
  contains: [t.Array(t.Integer(), { contains: t.Literal(7) }), "/?x=1"],
  union_error: body(t.Union([t.Integer(), t.Boolean()]), "x"),
  union_tag_invalid: body(t.Union([t.Object({ k: t.Literal(1) }), t.Object({ k: t.Literal(2) })]), { k: 3 }),
  not_allowed: body(t.Not(t.String()), "x"),
  value_error: [
    t
      .Transform(t.String())
      .Decode((text) => BigInt(text))
      .Encode(String),
    "/?x=a",
  ],
};

describe("the types of errors", () => {
  it("are the types on the page", () => {
    expect(rows.map(([, type]) => type)).toEqual([...FAULT_TYPES]);
  });

  it.each(Object.entries(REQUESTS))("%s is in the response", async (type, [x, target, sent]) => {
    const answer = await probe({ x })(target, sent);
    expect(answer.status).toBe(422);
    expect(answer.faults.map((fault) => fault.type)).toEqual([type]);
  });
});
