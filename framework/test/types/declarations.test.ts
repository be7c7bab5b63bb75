import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { compile, compilers } from "../support/typescript.js";

/** The frontend cannot reach this module. Its classes are not exported, and have private members. */
const SERVER = `class PrismaClient {
  #url = "";
  private connections = 1;
  readonly user = { findFirst: async () => ({ id: 1, email: "a@example.com", passwordHash: this.#url + this.connections, since: new Date() }) };
}
export async function* openDatabase() {
  yield new PrismaClient();
}
export const getUser = async () => ({ id: 1, passwordHash: "" });
`;

const ROUTES = `import { Depends, File, Form, Header, Query, Router, sse, t, withParams } from "tsgi";
import { HTTPBearer } from "tsgi/security";
import { getUser, openDatabase } from "./server.js";
const router = new Router({ prefix: "/users" });
const db = Depends(openDatabase, { scope: "app" });
const User = t.Object({ id: t.Integer(), email: t.String(), since: t.Date(), kind: t.Union([t.Literal("a"), t.Literal("b")]), on: t.Boolean(), note: t.Optional(t.Union([t.Object({ text: t.String() }), t.Null()])) });
const NewUser = t.Object({ email: t.String(), kind: t.String({ default: "a" }), address: t.Object({ street: t.Optional(t.String()) }) });
const getCurrent = withParams({ token: Depends(new HTTPBearer()), db, page: Query(t.Integer({ default: 1 })) }, async ({ db }) => db.user.findFirst());
const params = { db, user: Depends(getUser), current: Depends(getCurrent) };
export const readUser = router.get(
  "/{user_id}",
  { params: { ...params, user_id: t.Integer(), agent: Header() }, returns: User, responses: { 404: { schema: t.Object({ missing: t.Union([t.Boolean(), t.Null()]) }) } } },
  async ({ db }) => ({ ...(await db.user.findFirst()), kind: "a", on: true }),
);
export const addUser = router.post("", { params: { ...params, user: NewUser }, returns: t.Array(User) }, async () => []);
export const raw = router.get("/raw", { params }, async ({ db, user }) => (Math.random() > 2 ? db.user.findFirst() : Math.random() > 1 ? user : null));
export const carried = router.get("/carried/{name}", getCurrent);
export const decorated = router.get("/decorated/{name}", { params, returns: User })(async ({ db }) => ({ ...(await db.user.findFirst()), kind: "a", on: true }) as const);
export const several = router.route("/several", { methods: ["GET", "PUT"], params }, async ({ db }) => (await db.user.findFirst()).since);
export const events = router.get("/events", { params, stream: "sse", returns: sse({ user: User, end: t.Null() }) }, async function* () {
  yield { event: "end", data: null };
});
export const items = router.get("/items", { params }, async function* ({ db }) {
  yield await db.user.findFirst();
});
export const upload = router.post("/upload", { params: { ...params, picture: File(), title: Form() } }, async ({ picture }) => picture.size);
export const chat = router.websocket("/chat/{room}", { params, receives: NewUser, sends: t.Union([User, t.Null()]) }, async ({ ws }) => ws.accept());
`;

const FRONTEND = `import type * as users from "./api/routes.js";
import { type ApiOf, createClient, type HTTPValidationError } from "@tsgi/client";
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_T extends true>(): void => {};
const client = createClient<ApiOf<typeof users>>();
type User = { id: number; email: string; since: string; kind: "a" | "b"; on: boolean; note?: { text: string } | null };
const { data, error } = await client.GET("/users/{user_id}", { params: { path: { user_id: 1 }, header: { agent: "a" } } });
is<Equal<typeof data, User | undefined>>();
is<Equal<typeof error, { missing: boolean | null } | HTTPValidationError | undefined>>();
await client.POST("/users", { body: { email: "a", address: {} }, params: { query: { page: 2 } } });
// @ts-expect-error -- an address is missing
await client.POST("/users", { body: { email: "a" } });
const decorated = await client.GET("/users/decorated/{name}", { params: { path: { name: "a" } } });
is<Equal<typeof decorated.data, User | undefined>>();
await client.GET("/users/carried/{name}", { params: { path: { name: "a" }, query: { page: 1 } } });
const several = await client.PUT("/users/several");
is<Equal<typeof several.data, string | undefined>>();
await client.POST("/users/upload", { body: { picture: new Blob([]), title: "a" } });
for await (const event of (await client.GET("/users/events")).data ?? []) if (event.event === "user") is<Equal<typeof event.data, User>>();
const socket = client.websocket("/users/chat/{room}", { params: { path: { room: "a" } } });
socket.send({ email: "a", address: {} });
for await (const user of socket) is<Equal<typeof user, User | null>>();
`;

const EMIT = { noEmit: false, declaration: true, emitDeclarationOnly: true };

describe.each(compilers)("the declarations of routes, with TypeScript %s", (_, compiler) => {
  let folder = "";
  let errors = "";
  let declarations = "";
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tsgi-declarations-"));
    const api = path.join(folder, "server");
    errors = compile(compiler(), api, { "server.ts": SERVER, "routes.ts": ROUTES }, EMIT);
    declarations = readFileSync(path.join(api, "routes.d.ts"), "utf8");
    mkdirSync(path.join(folder, "frontend/api"), { recursive: true });
    writeFileSync(path.join(folder, "frontend/api/routes.d.ts"), declarations);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are emitted though the classes of dependencies have private members and are not exported", () => {
    expect(errors).toBe("");
  });

  it("contain no type of a dependency, and no property that `returns` removes", () => {
    const unsafe = declarations.replace(/^export declare const (?:raw|carried|items)\b[^]*?^\}>;$/gm, "");
    expect(unsafe).not.toMatch(/passwordHash|PrismaClient|Depends/);
    const packages = new Set(Array.from(declarations.matchAll(/(?:import\(|from )"([^"]+)"/g), ([, named]) => named));
    expect(packages).toEqual(new Set(["tsgi"]));
  });

  it("have at most 900 bytes per route", () => {
    expect(declarations.length / ROUTES.split("\nexport ").length).toBeLessThanOrEqual(900);
  });

  it("are all that a frontend needs, without skipLibCheck and the types of Node", () => {
    const browser = { skipLibCheck: false, types: [], lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"] };
    expect(compile(compiler(), path.join(folder, "frontend"), { "program.ts": FRONTEND }, browser)).toBe("");
  });
});
