/** The tool library by its inferred client and by its generated one, over a socket and without one. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { App } from "tsgi";
import type { ClientOptions } from "@tsgi/client";
import { serve, type RunningServer } from "tsgi/node";
import { WebSocket } from "undici";
import { KeptLog } from "../support/kept-log.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { compile, compilers } from "../support/typescript.js";
import { clientCalls, waysIn } from "./_client-calls.js";
import { createLibraryClient, type LibraryClient } from "./_the-client.js";
import { createApp } from "./app/app.js";
import { releaseClient } from "./app/release.js";
import { createBulletins } from "./app/routes/bulletins.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");
mkdirSync(path.join(ROOT, ".cache"), { recursive: true });
const folder = mkdtempSync(path.join(ROOT, ".cache/library-client-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const create = (): App => createApp({ logger: new KeptLog(), more: [createBulletins()] }).app;

/** Middleware of openapi-fetch that changes each request. */
const sending = (send: (request: Request) => Request) => ({
  onRequest: ({ request }: { request: Request }) => send(request),
});

type CreateClient = (options: ClientOptions) => LibraryClient;

const FORM = "application/x-www-form-urlencoded";

/** As openapi-fetch itself does. In Jest it does not see that `Headers` has a method `get`: that is a function of Node's. */
const bodySerializer = (body: Record<string, string>, headers?: ConstructorParameters<typeof Headers>[0]): string =>
  new Headers(headers).get("content-type") === FORM ? String(new URLSearchParams(body)) : JSON.stringify(body);

/** The generated module has the same calls: the compiler checks that they fit. */
async function generated(): Promise<CreateClient> {
  const { createClient } = (await import(path.join(folder, "api.ts"))) as {
    createClient: (given: object) => LibraryClient;
  };
  return (options) => createClient({ bodySerializer, ...options });
}

const WAYS: readonly [way: string, create: () => Promise<CreateClient>][] = [
  ["the inferred client", async () => createLibraryClient],
  ["the generated client", generated],
];

const slowly = IS_SLOW ? it : it.skip;

/** Compiles the calls as they are written against another client. @param client - The module that has its type. */
function compileCalls(types: string, client: string): string {
  const [, compiler] = compilers.at(-1)!;
  const files = {
    "api.ts": types,
    "_the-client.ts": client,
    "_client-calls.ts": readFileSync(path.join(import.meta.dirname, "_client-calls.ts"), "utf8"),
  };
  const lib = ["es2023", "dom", "dom.iterable"];
  return compile(compiler(), path.join(folder, "compiled"), files, { lib, noUncheckedIndexedAccess: true });
}

/** The types in the form of openapi-typescript, by that package: it loads modules in a way that Jest does not know. */
const GENERATE = `
import { readFileSync } from "node:fs";
import generate, { astToString } from "openapi-typescript";
const ast = await generate(JSON.parse(readFileSync(process.argv[1], "utf8")), { defaultNonNullable: false });
process.stdout.write(astToString(ast));
`;

describe("a client of the library", () => {
  beforeAll(async () => {
    await releaseClient(create(), { out: path.join(folder, "api.ts") });
  });

  it("accepts the same calls if it is generated as if it is inferred", () => {
    const client =
      'import { createClient } from "./api.js";\nexport type LibraryClient = ReturnType<typeof createClient>;\n';
    expect(compileCalls(readFileSync(path.join(folder, "api.ts"), "utf8"), client)).toBe("");
  });

  slowly("accepts them too with the types of openapi-typescript", () => {
    const home = installOnDemand("openapi-typescript", ["openapi-typescript@7.13.0", "typescript@5.9.3"]);
    const file = path.join(folder, "openapi.json");
    writeFileSync(file, JSON.stringify(create().openapi()));
    const options = { cwd: home, encoding: "utf8" } as const;
    const types = execFileSync(process.execPath, ["--input-type=module", "--eval", GENERATE, file], options);
    const client = `import type { Client } from "openapi-fetch";
      import type { paths } from "./api.js";
      export type LibraryClient = Client<paths>;`;
    expect(compileCalls(types, client)).toBe("");
  });

  describe.each(WAYS)("%s", (_way, createClient) => {
    let server: RunningServer;
    let app: App;
    const clients: Record<string, LibraryClient> = {};
    const options: Record<string, ClientOptions> = {};
    beforeAll(async () => {
      app = create();
      server = await serve(create(), { port: 0, signals: false, logger: new KeptLog() });
      options["over a socket"] = { baseUrl: server.url };
      options["without one"] = { baseUrl: "http://localhost", fetch: app.fetch };
      const make = await createClient();
      for (const [place, given] of Object.entries(options)) clients[place] = make(given);
    });
    beforeEach(async () => {
      await fetch(`${server.url}/admin/reset`, { method: "POST" });
      await app.fetch(new Request("http://localhost/admin/reset", { method: "POST" }));
    });
    afterAll(async () => {
      await server.close();
      await app.fetch.close();
    });

    describe.each(["over a socket", "without one"])("%s", (place) => {
      it.each(clientCalls)("$title", async ({ call, expected }) => {
        expect(await call(clients[place]!)).toEqual(expected);
      });

      it.each(waysIn)("goes in by $scheme", async ({ path: target, send, expected, refused }) => {
        const client = (await createClient())(options[place]!);
        expect((await client.GET(target)).response.status).toBe(refused);
        client.use(sending(send));
        expect((await client.GET(target)).data).toEqual(expected);
      });
    });
  });
});

describe("the inferred client by itself", () => {
  let server: RunningServer;
  let client: LibraryClient;
  beforeAll(async () => {
    server = await serve(create(), { port: 0, signals: false, logger: new KeptLog() });
    client = createLibraryClient({ baseUrl: server.url, WebSocket });
  });
  afterAll(() => server.close());

  it("returns the items of a stream one by one, typed by the schema", async () => {
    const { data } = await client.GET("/v1/feeds/tools");
    const names: string[] = [];
    for await (const { name } of data ?? []) names.push(name);
    expect(names).toEqual(["Drill", "Saw", "Ladder"]);
  });

  it("returns named events by their names, and no heartbeat", async () => {
    const { data } = await client.GET("/v1/feeds/loans", { headers: { authorization: "Token token-of-bob" } });
    const heard: unknown[] = [];
    for await (const one of data ?? []) heard.push(one.event === "borrowed" ? one.data.tool.name : one);
    expect(heard).toEqual(["Drill", { event: "returned", data: { tool: 1 } }, { event: "end", data: null }]);
  });

  it("continues a stream of a log, with the ids of its events", async () => {
    const params = { path: { id: "of the client" } };
    await client.PUT("/v1/bulletins/logs/{id}", { params: { ...params, query: { last: 2 } } });
    const heard: unknown[] = [];
    for await (const { id, data } of client.stream("/v1/bulletins/logs/{id}", { params })) heard.push([id, data]);
    expect(heard).toEqual([
      ["1", { n: 1 }],
      ["2", { n: 2 }],
    ]);
  });

  it("leaves a stream without end", async () => {
    const { data } = await client.GET("/v1/feeds/endless");
    for await (const { n } of data ?? []) if (n === 2) break;
    const journal = await fetch(`${server.url}/admin/journal/streams?count=2`);
    expect(await journal.json()).toContain("endless ended");
  });

  it("returns text as a string and bytes as a Blob", async () => {
    const csv = await client.GET("/v1/feeds/tools.csv");
    const cover = await client.GET("/v1/photos/cover");
    expect(csv.data).toBe("id,name\n1,Drill\n2,Saw\n3,Ladder\n");
    expect([...new Uint8Array(await (cover.data as Blob).arrayBuffer())]).toEqual([1, 2, 3]);
  });

  it("sends files and fields with a bearer token", async () => {
    const { data, response } = await client.POST("/v1/photos", {
      body: {
        title: "Front",
        photo: new Blob([Uint8Array.of(1, 2)], { type: "image/png" }),
        others: [new Blob(["abc"])],
      },
      headers: { authorization: "Bearer x" },
    });
    expect([response.status, data]).toEqual([201, { title: "Front", stars: 1, bytes: [2, 3], type: "image/png" }]);
  });

  it("sends an object as a form, with its lists", async () => {
    const { data } = await client.POST("/v1/photos/contact", {
      body: { name: "ada", answers: [1, 2] },
      headers: { "Content-Type": "multipart/form-data" },
    });
    expect(data).toEqual({ name: "ada", answers: [1, 2] });
  });

  it("sends cookies that a route reads", async () => {
    const { data } = await client.GET("/v1/tools/filter", { params: { cookie: { a: "b c", n: 5 } } });
    expect(data).toMatchObject({ cookies: { a: "b c", n: 5 } });
  });

  it("reaches every method of a route, and HEAD", async () => {
    const params = { path: { tool_id: 1 } };
    expect((await client.PUT("/v1/tools/{tool_id}/status", { params })).data).toEqual({ tool_id: 1, method: "PUT" });
    expect((await client.HEAD("/v1/tools/stock/count")).response.headers.get("x-count")).toBe("3");
    expect((await client.OPTIONS("/v1/tools")).response.headers.get("allow")).toBe("GET, POST");
  });

  it("talks over WebSockets with the types of the schemas", async () => {
    const socket = client.websocket("/v1/rooms/{room}", { params: { path: { room: "a" }, query: { greeting: "hi" } } });
    socket.send({ text: "one" });
    socket.send({ text: "bye" });
    const heard: string[] = [];
    const read = async () => {
      for await (const { by, text } of socket) heard.push(`${by}: ${text}`);
    };
    await expect(read()).rejects.toThrow("4000: bye");
    expect(heard).toEqual(["the room: hi", "somebody: one"]);
  });

  it("rejects invalid calls when they are compiled", () => {
    const refuse = () => {
      // @ts-expect-error -- the path has a parameter
      void client.GET("/v1/tools/{tool_id}");
      // @ts-expect-error -- the kind is one of two
      void client.POST("/v1/tools", { body: { name: "a", kind: "other" } });
      // @ts-expect-error -- no route has this path
      void client.GET("/v1/none");
      // @ts-expect-error -- a message has a text
      client.websocket("/v1/rooms/{room}", { params: { path: { room: "a" } } }).send({ times: 1 });
    };
    expect(refuse).toBeInstanceOf(Function);
  });
});
