/** The command `tsgi` with the tool library, as it is in TypeScript. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { buildAsyncAPI } from "@tsgi/openapi-tools";
import { Project } from "../../cli/test/_project.js";
import { KeptLog } from "../support/kept-log.js";
import { createApp, DEVELOPMENT } from "./app/app.js";
import { releaseClient } from "./app/release.js";

const MODULE = path.join(import.meta.dirname, "app/index.ts");

let project: Project;
beforeAll(async () => {
  project = await Project.create({ "library.js": `export { app } from ${JSON.stringify(MODULE)};` });
});
afterAll(() => project[Symbol.asyncDispose]());
const out = (name: string) => path.join(project.folder, name);

/** Runs the command in the process of the test, which loads TypeScript itself. */
const tsgi = (command: string, ...args: string[]) => project.run(command, "library.js", ...args);

const { app } = createApp({ logger: new KeptLog() });

describe("tsgi, with the library", () => {
  it("writes the document that the application serves, and of its WebSockets", async () => {
    const [openapi, asyncapi] = [await project.spawn("openapi", MODULE), await tsgi("openapi", "--async")];
    expect(JSON.parse(openapi.stdout)).toEqual(JSON.parse(JSON.stringify(app.openapi())));
    expect(JSON.parse(asyncapi.stdout)).toEqual(JSON.parse(JSON.stringify(buildAsyncAPI(app))));
  });

  it("writes the client that the application writes itself", async () => {
    expect((await tsgi("client", "--out", out("client.ts"))).code).toBe(0);
    expect(readFileSync(out("client.ts"), "utf8")).toBe(await releaseClient(app, { out: out("own.ts") }));
  });

  it("finds no change compared with the document of another version of OpenAPI, and one if an operation is missing", async () => {
    const { app: newer } = createApp({ env: { ...DEVELOPMENT, TOOLS_OPENAPI_VERSION: "3.2" } });
    const document = JSON.parse(JSON.stringify(newer.openapi())) as { paths: Record<string, object> };
    writeFileSync(out("committed.json"), JSON.stringify(document));
    expect(await tsgi("openapi", "--check", out("committed.json"))).toMatchObject({ code: 0 });
    document.paths["/v1/gone"] = { get: { responses: { 200: { description: "It was there." } } } };
    writeFileSync(out("committed.json"), JSON.stringify(document));
    const { code, stdout } = await tsgi("openapi", "--check", out("committed.json"));
    expect([code, stdout]).toEqual([1, expect.stringContaining("GET /v1/gone")]);
  });

  it("lists each route with its place and its dependencies", async () => {
    const { stdout } = await project.spawn("routes", MODULE, "--json");
    const listed = JSON.parse(stdout) as { method: string; path: string; runs: string; dependencies: string[] }[];
    const of = (method: string, pattern: string) => listed.find((one) => one.method === method && one.path === pattern);
    expect(listed.length).toBe(app.routes.length);
    expect(of("POST", "/v1/reports/summed")).toMatchObject({ runs: "loop" });
    expect(of("GET", "/v1/reports/here")).toMatchObject({ runs: "loop" });
    expect(of("GET", "/v1/tools/{tool_id}")).toMatchObject({ runs: "async" });
    expect(of("GET", "/v1/loans/inner/desks/{desk}/state")?.dependencies).toEqual(["HTTPBasic", "getClerk"]);
  });
});
