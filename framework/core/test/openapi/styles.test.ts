/** Parameters that are sent as the document describes them, and read by the route. */
import { expect, it } from "@jest/globals";
import { App, Cookie, Header, Path, Query, type Schema, t } from "../../src/index.js";
import type { ParameterObject } from "../../src/openapi/types.js";
import * as fc from "../../../test/support/fast-check.js";
import { describeMatrix } from "../../../test/support/matrix.js";

type Scalar = string | number | boolean;
type Value = Scalar | readonly Scalar[];

/** The parts of a request that parameters are in. */
interface Target {
  path: string;
  readonly query: string[];
  readonly headers: (readonly [name: string, value: string])[];
  readonly cookies: string[];
}

/** OpenAPI 3.0.3 §4.7.12: by default the style is `simple` in paths and headers, and `form` with `explode` elsewhere. */
function send({ name, in: place, ...others }: ParameterObject, value: Value, target: Target): void {
  expect(Object.keys(others).toSorted()).toEqual(["required", "schema"]);
  const items = [value].flat();
  const encoded = items.map((item) => encodeURIComponent(item));
  if (place === "path") target.path = target.path.replace(`{${name}}`, () => encoded.join());
  if (place === "header") target.headers.push([name, items.join()]);
  if (place === "query") target.query.push(...encoded.map((text) => `${name}=${text}`));
  if (place === "cookie") target.cookies.push(...encoded.map((text) => `${name}=${text}`));
}

const WORD = fc.unicode({ minLength: 1 }).filter((text) => text.isWellFormed() && !/^\.{1,2}$/.test(text));
/** In a header, a comma separates items, a quote begins a string, and blanks at the ends are not part of the value. */
const FIELD = fc.stringMatching(/^[a-z](?:[a-z ;%=]*[a-z])?$/);

const listOf = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { minLength: 1, maxLength: 4 });
const pairOf = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { minLength: 2, maxLength: 3 });

/** A schema, and values that it accepts. */
interface Kind {
  readonly schema: Schema;
  readonly values: fc.Arbitrary<Value>;
  readonly inHeader?: fc.Arbitrary<Value>;
}

const KINDS: Record<string, Kind> = {
  string: { schema: t.String(), values: WORD, inHeader: FIELD },
  "array of strings": { schema: t.Array(t.String()), values: listOf(WORD), inHeader: listOf(FIELD) },
  "array of integers": { schema: t.Array(t.Integer()), values: listOf(fc.integer()) },
  tuple: { schema: t.Tuple([t.Integer(), t.Boolean()]), values: fc.tuple(fc.integer(), fc.boolean()) },
  "union of an integer and an array": {
    schema: t.Union([t.Integer(), t.Array(t.Integer())]),
    values: fc.oneof(fc.integer(), pairOf(fc.integer())),
  },
  "union of an array and a boolean": {
    schema: t.Union([t.Array(t.Boolean(), { minItems: 2 }), t.Boolean()]),
    values: fc.oneof(fc.boolean(), pairOf(fc.boolean())),
  },
};

describeMatrix("a request that follows the document", ({ call }) => {
  it.each(Object.entries(KINDS))("is read as the values from which it was made: %s", async (_name, kind) => {
    const { values, inHeader = values } = kind;
    const schema = kind.schema as never;
    const app = new App();
    const seen: unknown[] = [];
    const params = { p: Path(schema), q: Query(schema), "x-h": Header(schema), c: Cookie(schema) };
    app.get("/at/{p}/end", { params }, async (args) => void seen.push({ ...args }));
    const parameters = app.openapi().paths["/at/{p}/end"]?.get?.parameters ?? [];
    expect(parameters.map(({ name }) => name)).toEqual(["p", "q", "x-h", "c"]);
    const sent = fc.record({ p: values, q: values, "x-h": inHeader, c: values });
    const property = fc.asyncProperty(sent, async (given: Readonly<Record<string, Value>>) => {
      const target: Target = { path: "/at/{p}/end", query: [], headers: [], cookies: [] };
      for (const parameter of parameters) send(parameter, given[parameter.name] ?? "", target);
      const headers = [...target.headers, ["cookie", target.cookies.join("; ")] as const];
      const { status } = await call(app, "GET", `${target.path}?${target.query.join("&")}`, { headers });
      expect([status, seen.pop()]).toEqual([200, given]);
    });
    await fc.assert(property, { numRuns: fc.runs(100) });
  });
});
