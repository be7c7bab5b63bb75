import { request as httpRequest } from "node:http";
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, Depends, t } from "tsgi";
import { TestClient } from "tsgi/testing";
import { inspected } from "../../src/inspector.js";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function getUser() {
  return "ada";
}

function createApp(): App {
  const app = new App({ logger: quiet });
  const params = { item_id: t.Integer(), user: Depends(getUser) };
  app.get("/items/{item_id}", { params }, async function readItem({ item_id }) {
    return item_id;
  });
  app.get("/failing", async function fail() {
    throw new TypeError("broken");
  });
  return app;
}

async function connect(url: string) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/__tsgi/mcp`)));
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { structuredContent, isError = false } = await client.callTool({ name, arguments: args });
    return { isError, result: structuredContent };
  };
  return { client, call, [Symbol.asyncDispose]: () => client.close() };
}

describe("the tools of the inspector", () => {
  let served: TestClient;

  beforeAll(async () => {
    served = await TestClient.open(inspected(createApp()));
    await fetch(`${served.url}/items/1?token=secret`);
    await fetch(`${served.url}/items/x`);
    await fetch(`${served.url}/failing`);
  });
  afterAll(() => served.close());

  it("are listed with their descriptions, and only read", async () => {
    await using agent = await connect(served.url);
    const { tools } = await agent.client.listTools();
    const listed = tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]);
    expect(listed).toEqual([
      ["list_routes", true],
      ["list_requests", true],
      ["list_errors", true],
    ]);
    for (const { description } of tools) expect(description).toMatch(/^List the /);
  });

  it("show the routes with their handlers and dependencies", async () => {
    await using agent = await connect(served.url);
    expect((await agent.call("list_routes")).result).toMatchObject({
      routes: [
        { method: "GET", path: "/items/{item_id}", name: "readItem", dependencies: [{ name: "getUser" }] },
        { method: "GET", path: "/failing", name: "fail" },
      ],
    });
  });

  it("show the last requests, newest first, without their queries", async () => {
    await using agent = await connect(served.url);
    const { result } = await agent.call("list_requests");
    expect(result).toMatchObject({
      requests: [
        { path: "/failing", status: 500 },
        { path: "/items/x", status: 422, faults: [{ loc: "path.item_id", type: "int_parsing" }] },
        {
          path: "/items/1",
          status: 200,
          steps: expect.arrayContaining([expect.objectContaining({ kind: "handler" })]),
        },
      ],
    });
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("select requests by their path, their status and a limit", async () => {
    await using agent = await connect(served.url);
    const pathsOf = async (args: Record<string, unknown>) => {
      const { requests } = (await agent.call("list_requests", args)).result as { requests: { path: string }[] };
      return requests.map(({ path }) => path);
    };
    expect(await pathsOf({ path_contains: "items" })).toEqual(["/items/x", "/items/1"]);
    expect(await pathsOf({ min_status: 400, limit: 1 })).toEqual(["/failing"]);
    expect((await agent.call("list_requests", { limit: 0 })).isError).toBe(true);
  });

  it("show unexpected errors with the source that threw them", async () => {
    await using agent = await connect(served.url);
    const { errors } = (await agent.call("list_errors")).result as { errors: { frames: object[] }[] };
    expect(errors).toMatchObject([{ request: "GET /failing", handler: "fail", error: "TypeError: broken" }]);
    const [frame] = errors[0]?.frames ?? [];
    expect(frame).toMatchObject({
      name: expect.stringMatching(/fail$/),
      file: "framework/cli/test/inspector/tools.test.ts",
      source: expect.arrayContaining([expect.stringMatching(/^> \d+ \| +throw new TypeError\("broken"\);$/)]),
    });
  });

  it("are not themselves among the requests", async () => {
    await using agent = await connect(served.url);
    await agent.call("list_routes");
    const { result } = await agent.call("list_requests");
    expect(JSON.stringify(result)).not.toContain("__tsgi");
  });

  it("can be called neither by a web page nor under a name that is not this machine's", async () => {
    const { port } = new URL(served.url);
    const statusOf = async (headers: Record<string, string>) => {
      const request = httpRequest({ host: "127.0.0.1", port, path: "/__tsgi/mcp", method: "POST", headers });
      const [response] = (await once(request.end("{}"), "response")) as [{ statusCode: number; resume(): void }];
      response.resume();
      return response.statusCode;
    };
    const json = { "content-type": "application/json" };
    expect(await statusOf({ ...json, origin: "https://evil.example" })).toBe(403);
    expect(await statusOf({ ...json, origin: served.url })).toBe(403);
    expect(await statusOf({ ...json, host: "evil.example" })).toBe(403);
  });

  it("are not reachable as routes", async () => {
    expect((await fetch(`${served.url}/__tsgi/mcp/errors`)).status).toBe(404);
  });
});
