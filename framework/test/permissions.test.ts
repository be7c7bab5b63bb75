/** The example of the page on permissions: one declaration decides about requests, the document, tools and rows. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, Depends, type DependsMarkerOf } from "tsgi";
import type { ApiKeys } from "@tsgi/api-keys";
import { openTables } from "../prisma/test/_clients.js";
import { blocksOf, fileOf } from "./docs/_blocks.js";

const PAGE = path.resolve(import.meta.dirname, "../docs/permissions.md");
const CACHE = path.resolve(import.meta.dirname, "../../.cache");

type Access = { user: { id: number }; where: { ownerId?: number } };
interface Declaration {
  readonly allow: (permission: string) => DependsMarkerOf<Access, object>;
  readonly keys: ApiKeys;
}

let folder: string;
let app: App;
let declaration: Declaration;

beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  folder = mkdtempSync(path.join(CACHE, "permissions-"));
  for (const block of blocksOf(PAGE, readFileSync(PAGE, "utf8"))) {
    const file = fileOf(block);
    if (file !== null) writeFileSync(path.join(folder, file), block.code);
  }
  ({ app } = (await import(path.join(folder, "app.ts"))) as { app: App });
  declaration = await import(path.join(folder, "permissions.ts"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ALL = ["notes:read", "notes:write", "notes:delete"];

async function headersOf(owner: string, scopes = ALL): Promise<Record<string, string>> {
  const { key } = await declaration.keys.create({ owner, scopes });
  return { authorization: `Bearer ${key}`, "content-type": "application/json" };
}

async function call(method: string, target: string, headers: Record<string, string>, json?: unknown) {
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const response = await app.fetch(new Request(`http://localhost${target}`, { method, headers, ...body }));
  return { status: response.status, text: await response.text() };
}

/** The names of the tools that an agent sees. */
async function toolsOf(headers: Record<string, string>): Promise<string[]> {
  const accept = "application/json, text/event-stream";
  const { text } = await call("POST", "/mcp", { ...headers, accept }, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  const json = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
  return (JSON.parse(json) as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
}

describe("a permission", () => {
  it.each([
    ["ada", 200, 200, 200],
    ["eve", 200, 404, 403],
    ["vic", 200, 403, 403],
  ])(
    "decides by the role of %s: read %i, change a note of another %i, delete %i",
    async (owner, read, change, remove) => {
      const headers = await headersOf(owner);
      const note = JSON.parse((await call("POST", "/notes", await headersOf("ada"), { text: "new" })).text) as {
        id: number;
      };
      const results = [
        await call("GET", "/notes", headers),
        await call("PUT", `/notes/${note.id}`, headers, { text: "changed" }),
        await call("DELETE", `/notes/${note.id}`, headers),
      ];
      expect(results.map(({ status }) => status)).toEqual([read, change, remove]);
    },
  );

  it("decides by the scopes of the key, for every role", async () => {
    const reader = await headersOf("ada", ["notes:read"]);
    expect(await call("GET", "/notes", reader)).toMatchObject({ status: 200 });
    expect(await call("DELETE", "/notes/1", reader)).toMatchObject({ status: 403 });
    expect(await call("GET", "/notes", await headersOf("ada", []))).toMatchObject({ status: 403 });
    expect(await call("GET", "/notes", await headersOf("unknown"))).toMatchObject({ status: 401 });
  });

  it("is in the OpenAPI document as 401 and 403", () => {
    const { paths } = app.openapi();
    for (const operation of [
      paths["/notes"]?.get,
      paths["/notes"]?.post,
      paths["/notes/{id}"]?.put,
      paths["/notes/{id}"]?.delete,
    ]) {
      expect(operation?.security).toEqual([{ ApiKey: [] }]);
      expect(operation?.responses["401"]).toBeDefined();
      expect(operation?.responses["403"]).toMatchObject({
        description: expect.stringMatching(/^Requires notes:/),
        content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPError" } } },
      });
    }
  });

  it("decides which tools an agent sees", async () => {
    const all = ["list_notes", "create_note", "change_note", "delete_note"];
    expect(await toolsOf(await headersOf("ada"))).toEqual(all);
    expect(await toolsOf(await headersOf("eve"))).toEqual(all.slice(0, 3));
    expect(await toolsOf(await headersOf("vic"))).toEqual(all.slice(0, 1));
    expect(await toolsOf(await headersOf("ada", ["notes:read"]))).toEqual(all.slice(0, 1));
  });

  it("limits a query of Prisma to the rows that the caller can reach", async () => {
    await using tables = await openTables();
    const { db } = tables;
    await db.user.create({ data: { id: 1, name: "ada", pens: { create: { name: "red" } } } });
    await db.user.create({ data: { id: 3, name: "vic", pens: { create: { name: "blue" } } } });
    const shop = new App();
    const params = { access: declaration.allow("notes:read"), pens: Depends(() => db.pen as unknown as Pens) };
    shop.get("/pens", { params }, async ({ access: { where }, pens }) => pens.findMany({ where }));
    const namesOf = async (owner: string) => {
      const request = new Request("http://localhost/pens", { headers: await headersOf(owner) });
      return ((await (await shop.fetch(request)).json()) as { name: string }[]).map(({ name }) => name);
    };
    expect(await namesOf("vic")).toEqual(["blue"]);
    expect(await namesOf("ada")).toEqual(["red", "blue"]);
  });
});

interface Pens {
  findMany(query: { where: object }): Promise<{ name: string }[]>;
}
