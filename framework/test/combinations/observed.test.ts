/** The tool library on Node under observation by everything at once: traces, metrics, logs, timings and its own witness. */
import { pathToFileURL } from "node:url";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { parseExposition } from "../../metrics/test/_exposition.js";
import { Telemetry } from "../../otel/test/_telemetry.js";
import { KeptLog } from "../support/kept-log.js";
import { conversations } from "./_conversations.js";
import { backroomRows } from "./_backroom-calls.js";
import { type Need, rows as otherRows } from "./_calls.js";
import { onHTTP1, type Served } from "./_drivers.js";
import { nodeRows } from "./_node-calls.js";
import { seenOf, wantedOf } from "./_observe.js";
import { stories } from "./_stories.js";
import { DEVELOPMENT } from "./app/app.js";
import { createNodeApp } from "./app/node.js";
import { Witness } from "./app/observation.js";

const rows = [...otherRows, ...backroomRows];

const assets = pathToFileURL(`${path.join(import.meta.dirname, "app/assets")}/`);
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = ["traceparent", `00-${TRACE}-00f067aa0ba902b7-01`] as const;

const telemetry = new Telemetry();
const witness = new Witness();
const lines: string[] = [];
let served: Served;

beforeAll(async () => {
  const { tracerProvider, meterProvider } = telemetry;
  const { app } = createNodeApp({
    env: DEVELOPMENT,
    assets,
    logger: new KeptLog(),
    telemetry: { tracerProvider, meterProvider },
    write: (line) => lines.push(line),
    isTimed: true,
    instrumentation: [witness],
  });
  served = await onHTTP1(app);
});
beforeEach(async () => {
  await served.reset();
  telemetry.takeSpans();
  witness.take();
  lines.length = 0;
});
afterAll(async () => {
  await served.close();
});

const lacks: readonly Need[] = ["process", "workers"];
const isMet = ({ needs = [] }: { readonly needs?: readonly Need[] }) => !needs.some((need) => lacks.includes(need));

describe("the library under observation", () => {
  it.each([...rows, ...nodeRows].filter(isMet))("$title", async ({ method, target, sent, expected }) => {
    const answer = await served.send(method, target, sent);
    const added = { "server-timing": /total;dur=/, "x-observed": String(expected.status) };
    expect(seenOf(answer, expected)).toEqual(wantedOf(expected, added));
  });

  it.each(stories)("$title", async ({ tell, expected }) => {
    expect(await tell(served)).toEqual(expected);
  });

  it.each(conversations)("$title", async ({ path: target, handshake, talk, expected }) => {
    const peer = await served.connect!(target, handshake);
    try {
      expect(await talk(peer, served)).toEqual(expected);
    } finally {
      await peer.close();
    }
  });
});

/** Waits until the observation of so many requests is over: that is after the response. */
async function over(count: number): Promise<ReturnType<Witness["take"]>> {
  const seen = witness.take();
  while (seen.length < count) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(...witness.take());
  }
  return seen;
}

/** The server's span among those that a request has ended. */
const serverSpan = () => telemetry.takeSpans().find(({ kind }) => kind === SpanKind.SERVER)!;

describe("one request, in the eyes of all", () => {
  it.each<[title: string, request: [string, string, object?], route: string | null, status: number, hasError: boolean]>(
    [
      ["of a route", ["GET", "/v1/tools/2"], "/v1/tools/{tool_id}", 200, false],
      ["of a stream", ["GET", "/v1/feeds/tools"], "/v1/feeds/tools", 200, false],
      ["of a plain handler", ["GET", "/v1/reports/primes/9"], "/v1/reports/primes/{below}", 200, false],
      [
        "of a mounted App",
        ["GET", "/partner/missing", { headers: [["authorization", "Bearer token-of-ada"]] }],
        "/partner/missing",
        404,
        false,
      ],
      ["of no route", ["GET", "/v1/nothing"], null, 404, false],
      ["that fails", ["GET", "/v1/loans/pots/thrown"], "/v1/loans/pots/thrown", 500, true],
      ["whose result does not fit", ["GET", "/v1/loans/pots/broken"], "/v1/loans/pots/broken", 500, true],
      ["that a middleware refuses", ["GET", "/", { headers: [["host", "evil.example"]] }], null, 400, false],
      ["that is not valid", ["GET", "/v1/tools/abc"], "/v1/tools/{tool_id}", 422, false],
    ],
  )("%s has one route and one status", async (_title, [method, target, sent], route, status, hasError) => {
    const headers = [...((sent as { headers?: [string, string][] })?.headers ?? []), parent];
    await served.send(method, target, { headers });
    const [seen] = await over(1);
    expect([seen?.route, seen?.status, seen?.error !== undefined]).toEqual([route, status, hasError]);
    const line = JSON.parse(lines[0] ?? "{}") as Record<string, unknown>;
    expect(line).toMatchObject({ method, path: target, route, status, traceId: TRACE, client: "127.0.0.1" });
    const span = serverSpan();
    expect(span.name).toBe(route === null ? "GET" : `GET ${route}`);
    expect(span.spanContext().traceId).toBe(TRACE);
    expect(span.attributes).toMatchObject({ "http.response.status_code": status });
    expect(span.attributes["http.route"] ?? null).toBe(route);
    expect(span.status.code).toBe(status >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
  });

  it("has a span for each dependency, each validation and each call of the pool, below the span of the server", async () => {
    await served.send("GET", "/v1/tools/2", { headers: [parent] });
    await over(1);
    const spans = telemetry.takeSpans();
    const server = spans.find(({ kind }) => kind === SpanKind.SERVER)!;
    const steps = spans.filter((span) => span !== server);
    // Functions without a name are called after the parameters that get their results.
    const names = ["dependency guard 1", "validation findToolRoute", "validation tool", "dependency tool"];
    expect(steps.map(({ name }) => name)).toEqual(names);
    expect(steps.map((span) => span.spanContext().traceId)).toEqual(names.map(() => TRACE));
  });

  it("has the order in which it was served: guards, credentials, other dependencies, the handler", async () => {
    const headers = [["authorization", "Bearer token-of-bob"] as const];
    await served.send("POST", "/v1/tools", { json: { name: "Plane", kind: "hand" }, headers });
    const [seen] = await over(1);
    const steps = seen!.steps.filter((step) => /^(?:dependency|handler|serialization|background)/.test(step));
    expect(steps).toEqual([
      "dependency guard 1",
      "dependency OAuth2PasswordBearer",
      "dependency member",
      "dependency library",
      "handler addTool",
      "serialization addTool",
      "background anonymous",
    ]);
  });

  it("is known to each line of the log", async () => {
    const { json } = await served.send("GET", "/v1/log-fields", { headers: [parent, ["x-request-id", "r-1"]] });
    expect(json).toEqual({ requestId: "r-1", traceId: TRACE, method: "GET", route: "/v1/log-fields" });
  });

  it("is a WebSocket from its handshake to its end", async () => {
    const peer = await served.connect!("/partner/news", {
      headers: { authorization: "Bearer token-of-ada", traceparent: parent[1] },
    });
    await peer.closed;
    const [seen] = await over(1);
    expect(seen).toMatchObject({ route: "/partner/news", status: 101, error: undefined });
    expect(serverSpan()).toMatchObject({ name: "GET /partner/news" });
    expect(JSON.parse(lines[0] ?? "{}")).toMatchObject({ route: "/partner/news", status: 101, traceId: TRACE });
  });

  it("is counted by its route and the class of its status, once", async () => {
    const before = await countOf("/v1/tools/{tool_id}", "4xx");
    await served.send("GET", "/v1/tools/98");
    await served.send("GET", "/v1/tools/99");
    expect(await countOf("/v1/tools/{tool_id}", "4xx")).toBe(before + 2);
  });

  it("is measured by its route, without a mounted prefix twice", async () => {
    await served.send("GET", "/partner/missing", { headers: [["authorization", "Bearer token-of-ada"]] });
    const [duration] = await telemetry.histograms();
    const routes = duration!.points.map(({ attributes }) => attributes["http.route"]);
    expect(routes).toContain("/partner/missing");
    expect(routes.filter((route) => String(route).startsWith("/partner/partner"))).toEqual([]);
  });
});

async function countOf(route: string, status: string): Promise<number> {
  const { text } = await served.send("GET", "/metrics");
  const samples = parseExposition(text).filter(({ name, labels }) => {
    return name === "http_requests_total" && labels["route"] === route && labels["status"] === status;
  });
  return samples.reduce((sum, { value }) => sum + value, 0);
}

describe("an agent", () => {
  it("calls the tools that its credentials allow, under the same observation", async () => {
    const requestInit = { headers: { authorization: "Bearer token-of-bob" } };
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", served.url!), { requestInit }));
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["find_tool", "add_tool"]);
      const found = await client.callTool({ name: "find_tool", arguments: { tool_id: 1 } });
      expect(found.structuredContent).toMatchObject({ id: 1, name: "Drill" });
      const missing = await client.callTool({ name: "find_tool", arguments: { tool_id: 99 } });
      expect(missing).toMatchObject({ isError: true, content: [{ text: "404 Not Found: There is no tool 99" }, {}] });
      const added = await client.callTool({ name: "add_tool", arguments: { tool: { name: "Rasp", kind: "hand" } } });
      expect(added.structuredContent).toMatchObject({ id: 4, name: "Rasp" });
    } finally {
      await client.close();
    }
    const stranger = await fetch(new URL("/mcp", served.url!), {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(await stranger.text()).toContain("find_tool");
  });
});

it("passwords are hashed in the queue of their client, if they can be chosen", async () => {
  const choose = (password: string) => served.send("POST", "/v1/passwords", { json: { password } });
  expect((await choose("correct horse")).json).toMatch(/^\$argon2id\$/);
  expect(await choose("ab")).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", "password"] }] } });
});
