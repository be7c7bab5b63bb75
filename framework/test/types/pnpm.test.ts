import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { compile, compilers } from "../support/typescript.js";

const ROOT = path.join(import.meta.dirname, "../../..");

/** The folders of pnpm: a project can import only the packages that it lists, and those import what they list. */
function installLikePnpm(folder: string): void {
  const store = path.join(folder, "node_modules/.pnpm");
  const tsgi = path.join(store, "tsgi@0.1.0/node_modules/tsgi");
  const typebox = path.join(store, "@sinclair+typebox@0.34.52/node_modules/@sinclair/typebox");
  const isForCompilers = (from: string) => !path.extname(from) || /(?:\.d\.m?ts|package\.json)$/.test(from);
  cpSync(path.join(ROOT, "framework/core/package.json"), path.join(tsgi, "package.json"));
  cpSync(path.join(ROOT, "framework/core/dist"), path.join(tsgi, "dist"), { recursive: true, filter: isForCompilers });
  for (const part of ["package.json", "build/esm"]) {
    const from = path.join(ROOT, "node_modules/@sinclair/typebox", part);
    cpSync(from, path.join(typebox, part), { recursive: true, filter: isForCompilers });
  }
  mkdirSync(path.join(tsgi, "../@sinclair"));
  symlinkSync(typebox, path.join(tsgi, "../@sinclair/typebox"));
  symlinkSync(tsgi, path.join(folder, "node_modules/tsgi"));
}

const ROUTES = `import { Depends, Query, Router, sse, t, withParams } from "tsgi";
const router = new Router({ prefix: "/items" });
const Item = t.Object({ id: t.Integer(), name: t.String(), due: t.Optional(t.Date()) });
const paging = withParams({ limit: Query(t.Integer({ default: 10 })) }, async ({ limit }) => ({ limit }));
export const readItem = router.get(
  "/{item_id}",
  { params: { item_id: t.Integer(), paging: Depends(paging) }, returns: Item, responses: { 404: { schema: t.Object({ missing: t.Boolean() }) } } },
  async ({ item_id }) => ({ id: item_id, name: "a" }),
);
export const addItem = router.post("", { params: { item: t.Omit(Item, ["id"]) }, returns: Item }, async () => ({ id: 1, name: "a" }));
export const events = router.get("/events/all", { stream: "sse", returns: sse({ token: Item, done: t.Null() }) }, async function* () {
  yield { event: "done", data: null };
});
export const later = router.get("/later/{item_id}", { params: { item_id: t.Integer() } });
export const laterChat = router.websocket("/later/{item_id}", { params: { item_id: t.Integer() }, receives: Item });
export const chat = router.websocket("/chat", { receives: t.Union([Item, t.Null()]), sends: Item }, async ({ ws }) => ws.accept());
`;

/** Each kind of schema that a route may have. */
const SCHEMAS = `import { t } from "tsgi";
const Struct = t.Object({ a: t.Optional(t.Readonly(t.Integer())), b: t.String({ default: "" }) });
const Letters = t.Union([t.Literal("a"), t.Literal("b")]);
export const list = [
  t.Any(), t.Array(Struct), t.Array(Struct, { default: [] }), t.BigInt(), t.Boolean(), t.Boolean({ default: true }), t.Capitalize(Letters),
  t.Composite([Struct, t.Object({ c: t.Null() })]), t.Const({ a: 1 }), t.Date(), t.Enum({ A: "a", B: "b" }), t.Exclude(Letters, t.Literal("a")),
  t.Extends(t.String(), t.Integer(), t.Null(), t.Any()), t.Extract(Letters, t.Literal("a")), t.Index(Struct, ["a"]), t.Integer(),
  t.Intersect([Struct, t.Object({ c: t.Null() })]), t.KeyOf(Struct), Letters, t.Literal(1), t.Lowercase(Letters), t.Mapped(Letters, () => t.Null()),
  t.Module({ A: t.Object({ b: t.Ref("B") }), B: t.Integer() }), t.Module({ A: t.Object({ b: t.Ref("B") }), B: t.Integer() }).Import("A"),
  t.Never(), t.Not(t.Integer()), t.Null(), t.Number(), t.Object({}), t.Omit(Struct, ["a"]), t.Optional(Struct), t.Partial(Struct),
  t.Pick(Struct, ["a"]), t.Readonly(Struct), t.ReadonlyOptional(Struct), t.Record(t.String(), Struct), t.Record(Letters, Struct),
  t.Recursive((This) => t.Object({ nodes: t.Array(This) })), t.Ref("Struct"), t.RegExp(/a/), t.Required(Struct), t.Rest(t.Tuple([Struct])), t.String(),
  t.TemplateLiteral("a\${1|2}"), t.TemplateLiteral([t.Literal("a"), Letters]), t.Transform(t.String()).Decode(Number).Encode(String),
  t.Tuple([Struct, t.Null()]), t.Uint8Array(), t.Uncapitalize(Letters), t.Undefined(), t.Union([Struct, t.Null()], { default: null }), t.Unknown(),
  t.Unsafe<"a" | "b">({ type: "string" }), t.Uppercase(Letters), t.Void(),
] as const;
`;

/** Functions that give schemas of schemas. */
const GENERICS = `import { t, type TObject, type TProperties, type TSchema } from "tsgi";
export const nullable = <T extends TSchema>(item: T) => t.Union([item, t.Null()]);
export const page = <T extends TSchema>(item: T) => t.Object({ items: t.Array(item), next: t.Optional(t.String()) });
export const parts = <T extends TProperties>(own: T) => t.Object({ ...own, id: t.Integer() });
export const members = <T extends TObject>(item: T) =>
  [t.Composite([item, t.Object({})]), t.Index(item, ["a"]), t.Intersect([item, t.Object({})]), t.KeyOf(item), t.Omit(item, ["a"]), t.Partial(item), t.Pick(item, ["a"]), t.Required(item)] as const;
export const { Array, Boolean, Date, Integer, Number, Object, String } = t;
`;

const AGAIN = `import { readItem } from "./routes.js";
export const renamed = { readItem };
`;

const FILES = { "routes.ts": ROUTES, "schemas.ts": SCHEMAS, "generics.ts": GENERICS, "again.ts": AGAIN };

const OPTIONS = { noEmit: false, declaration: true, emitDeclarationOnly: true, paths: {} };

describe.each(compilers)("in the folders of pnpm, with TypeScript %s", (_, compiler) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-pnpm-"));
    installLikePnpm(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("declarations name the types of schemas by tsgi, which is all that the project lists", () => {
    expect(compile(compiler(), folder, FILES, OPTIONS)).toBe("");
    for (const name of Object.keys(FILES)) {
      const text = readFileSync(path.join(folder, name.replace(".ts", ".d.ts")), "utf8");
      const packages = new Set(Array.from(text.matchAll(/(?:import\(|from )"([^"]+)"/g), ([, named]) => named));
      expect(packages).toEqual(new Set(["tsgi"]));
    }
  });
});
