import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, type ASGIApp, BackgroundTasks, Depends, Query, type SendMessage, t, withParams } from "tsgi";
import { inspected } from "../src/inspector.js";
import { isLocal } from "../src/inspector/is-local.js";
import { type Recorded, Recorder } from "../src/inspector/recorder.js";
import { TestClient } from "tsgi/testing";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function getSettings() {
  return { limit: 10 };
}
const getUser = withParams({ settings: Depends(getSettings) }, async function getUser() {
  return "ada";
});

function createApp(): App {
  const app = new App({ logger: quiet });
  const Item = t.Object({ name: t.String({ minLength: 1 }) });
  app.get(
    "/items/{item_id}",
    { params: { item_id: t.Integer(), user: Depends(getUser) } },
    async function readItem({ item_id }) {
      return item_id;
    },
  );
  app.post("/items", { params: { item: Item, tasks: BackgroundTasks } }, async function createItem({ item, tasks }) {
    tasks.addTask(async function notify() {});
    return item;
  });
  app.get("/failing", async () => {
    throw new Error("broken");
  });
  app.websocket("/live", async ({ ws }) => ws.close());
  const inner = new App();
  inner.get("/{name}", async ({ name }) => name);
  app.mount("/inner", inner);
  return app;
}

/** The events of a page, one after the other. */
async function* eventsOf(url: string): AsyncGenerator<{ requests: Recorded[]; pool: unknown }> {
  const response = await fetch(`${url}/__tsgi/events`);
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) yield JSON.parse(event.slice("data: ".length));
  }
}

/** The requests of the page once they have all ended. */
async function requestsOf(url: string, count: number): Promise<Recorded[]> {
  const seen = new Map<number, Recorded>();
  for await (const { requests } of eventsOf(url)) {
    for (const request of requests) seen.set(request.id, request);
    const all = [...seen.values()];
    if (all.length >= count && all.every(({ durationMs }) => durationMs !== null)) return all;
  }
  return [];
}

describe("the inspector", () => {
  let client: TestClient;
  let url: string;

  beforeAll(async () => {
    client = await TestClient.open(inspected(createApp()));
    ({ url } = client);
  });
  afterAll(() => client.close());

  it("serves its page and its files, which load no external resources", async () => {
    for (const [path, type] of [
      ["", "text/html; charset=utf-8"],
      ["/inspector.js", "text/javascript; charset=utf-8"],
      ["/inspector.css", "text/css; charset=utf-8"],
    ]) {
      const answer = await fetch(`${url}/__tsgi${path}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
      expect(await answer.text()).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    }
  });

  it("shows the routes with their dependencies as trees", async () => {
    const routes = await (await fetch(`${url}/__tsgi/routes`)).json();
    expect(routes).toEqual([
      {
        method: "GET",
        path: "/items/{item_id}",
        name: "readItem",
        dependencies: [{ name: "getUser", dependencies: [{ name: "getSettings", dependencies: [] }] }],
      },
      { method: "POST", path: "/items", name: "createItem", dependencies: [] },
      expect.objectContaining({ path: "/failing" }),
      expect.objectContaining({ method: "WEBSOCKET", path: "/live" }),
    ]);
  });

  it("shows each request with its route, steps, validation errors and error, but not its query or body", async () => {
    const opened = await TestClient.open(inspected(createApp()));
    const post = (item: object) =>
      fetch(`${opened.url}/items?token=secret`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(item),
      });
    await fetch(`${opened.url}/items/1`);
    await post({ name: "" });
    await post({ name: "hidden" });
    await fetch(`${opened.url}/failing`);
    await fetch(`${opened.url}/inner/a`);
    await fetch(`${opened.url}/nowhere`);
    const requests = await requestsOf(opened.url, 6);
    const shown = requests.map(({ method, path, route, handler, status, faults, error, steps }) => [
      `${method} ${path} ${status}`,
      `${route} ${handler}`,
      steps.map(({ kind, name }) => `${kind} ${name}`).join(),
      faults.map(({ loc, type }) => `${loc} ${type}`).join() || error,
    ]);
    expect(shown).toEqual([
      [
        "GET /items/1 200",
        "/items/{item_id} readItem",
        "validation readItem,dependency getSettings,dependency getUser,handler readItem,serialization readItem",
        null,
      ],
      [
        "POST /items 422",
        "/items createItem",
        "validation createItem,validation createItem",
        "body.name string_too_short",
      ],
      [
        "POST /items 200",
        "/items createItem",
        "validation createItem,validation createItem,handler createItem,serialization createItem,background notify",
        null,
      ],
      ["GET /failing 500", expect.stringContaining("/failing"), expect.stringContaining("handler"), "Error: broken"],
      ["GET /inner/a 200", expect.stringContaining("/inner/{name}"), expect.anything(), null],
      ["GET /nowhere 404", "null null", "", null],
    ]);
    expect(JSON.stringify(requests)).not.toMatch(/secret|hidden/);
    await opened.close();
  });

  it("shows no function without a name, and the error of a dependency's parameter once", async () => {
    const app = new App({ logger: quiet });
    const getPage = withParams({ page: Query(t.Integer()) }, async ({ page }) => page);
    const guard = Depends(withParams({ page: Depends(getPage) }, async () => {}));
    app.websocket("/live", { params: { size: Depends(async () => 1) } }, async ({ ws }) => ws.close());
    app.get(
      "/items",
      { dependencies: [guard], params: { start: Depends(getPage), limit: Query(t.Integer()) } },
      async () => [],
    );
    app.get("/sum", { params: { start: Depends(getPage), limit: Query(t.Integer()) } }, async () => 1);
    await using opened = await TestClient.open(inspected(app));
    expect(await (await fetch(`${opened.url}/__tsgi/routes`)).json()).toMatchObject([
      { name: "WEBSOCKET /live", dependencies: [{ name: "size" }] },
      {
        name: "GET /items",
        dependencies: [{ name: "guard 1", dependencies: [{ name: "page" }] }, { name: "start" }],
      },
      { name: "GET /sum", dependencies: [{ name: "start" }] },
    ]);
    await fetch(`${opened.url}/sum?limit=x`);
    const [{ handler, steps, faults } = {} as Recorded] = await requestsOf(opened.url, 1);
    expect(handler).toBe("GET /sum");
    expect(steps.map(({ name }) => name)).toEqual(["GET /sum", "start"]);
    expect(faults.map(({ loc, type }) => `${loc} ${type}`)).toEqual(["query.limit int_parsing", "query.page missing"]);
  });

  it("shows the next request as it arrives", async () => {
    const opened = await TestClient.open(inspected(createApp()));
    const events = eventsOf(opened.url);
    expect((await events.next()).value).toEqual({ requests: [], pool: null });
    await fetch(`${opened.url}/items/2`);
    expect((await events.next()).value?.requests[0]).toMatchObject({ path: "/items/2" });
    await events.return(undefined);
    await opened.close();
  });

  it("uses no path of the application except its own, and no WebSocket", async () => {
    expect((await fetch(`${url}/__tsgix`)).status).toBe(404);
    expect(await (await fetch(`${url}/items/3`)).json()).toBe(3);
  });

  it("rejects a page that another site sends under its own name", async () => {
    const { port } = new URL(url);
    const asked = httpRequest({ host: "127.0.0.1", port, path: "/__tsgi/events", headers: { host: "evil.example" } });
    const [answer] = (await once(asked.end(), "response")) as [{ statusCode: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(403);
  });

  it("rejects a client of another machine", async () => {
    const sent: SendMessage[] = [];
    const app: ASGIApp = inspected(createApp());
    await app(
      {
        type: "http",
        method: "GET",
        path: "/__tsgi",
        query_string: new Uint8Array(),
        headers: [[Buffer.from("host"), Buffer.from("localhost:8000")]],
        client: ["192.0.2.1", 4711],
      },
      async () => ({ type: "http.disconnect" }),
      (message) => void sent.push(message),
    );
    expect(sent[0]).toMatchObject({ status: 403 });
  });

  it("works next to an application that is not an App", async () => {
    const other: ASGIApp = async (scope, _receive, send) => {
      if (scope.type !== "http") return;
      await send({ type: "http.response.start", status: 200, headers: [] });
      await send({ type: "http.response.body", body: Buffer.from("own") });
    };
    const opened = await TestClient.open(inspected(other));
    expect(await (await fetch(opened.url)).text()).toBe("own");
    expect(await (await fetch(`${opened.url}/__tsgi/routes`)).json()).toEqual([]);
    await opened.close();
  });
});

describe("a request of this machine", () => {
  const scope = (host: string | null, address: string | null) => ({
    type: "http" as const,
    method: "GET" as const,
    path: "/",
    query_string: new Uint8Array(),
    headers: host === null ? [] : [[Buffer.from("host"), Buffer.from(host)] as const],
    client: address === null ? null : ([address, 1] as [string, number]),
  });

  it.each([
    ["localhost:8000", "127.0.0.1"],
    ["LOCALHOST", "::1"],
    ["127.0.0.1:8000", "127.8.9.1"],
    ["[::1]:8000", "::1"],
    ["localhost", "::ffff:127.0.0.1"],
  ])("is one to %s from %s", (host, address) => {
    expect(isLocal(scope(host, address))).toBe(true);
  });

  it.each([
    ["localhost.evil.example", "127.0.0.1"],
    ["evil.example", "127.0.0.1"],
    ["localhost@evil.example", "127.0.0.1"],
    ["localhost", "192.0.2.1"],
    ["localhost", "2001:db8::1"],
    ["localhost", null],
    [null, "127.0.0.1"],
  ])("does not include %s from %s", (host, address) => {
    expect(isLocal(scope(host, address))).toBe(false);
  });
});

describe("a request through a proxy on this machine, which writes its own name into Host", () => {
  it.each(["X-Forwarded-For", "x-forwarded-host", "x-forwarded-proto", "forwarded", "via", "x-real-ip"])(
    "is refused by the inspector and its endpoint for agents because of %s",
    async (name) => {
      const application = new App();
      await using client = await TestClient.open(inspected(application));
      const headers = { [name]: "192.0.2.1" };
      for (const path of ["/__tsgi", "/__tsgi/routes", "/__tsgi/events", "/__tsgi/mcp"]) {
        expect((await fetch(client.url + path, { headers })).status).toBe(403);
      }
      expect((await fetch(`${client.url}/__tsgi`)).status).toBe(200);
    },
  );
});

describe("the recorder", () => {
  const scopeOf = (path: string) => ({ type: "http" as const, method: "GET", path, headers: [] });
  const start = (recorder: Recorder, path: string) => recorder.start(scopeOf(path));

  it("keeps the last hundred requests, even if an older one ends last", () => {
    const recorder = new Recorder();
    const first = start(recorder, "/0");
    for (let index = 1; index <= 100; index++) start(recorder, `/${index}`).end?.();
    first.end?.();
    const kept = recorder.since(0);
    expect([kept.length, kept[0]?.path, kept.at(-1)?.path]).toEqual([100, "/1", "/100"]);
  });

  it("keeps the messages of the errors that an error contains", () => {
    const recorder = new Recorder();
    start(recorder, "/").end?.(new AggregateError([new Error("connect ::1:1"), new Error("connect x")], ""));
    expect(recorder.since(0)[0]?.error).toBe("AggregateError: connect ::1:1; connect x");
  });

  it("cuts a long path, a long error and many steps", () => {
    const recorder = new Recorder();
    const observation = start(recorder, `/${"x".repeat(10_000)}`);
    for (let index = 0; index < 1_000; index++) observation.step?.("background", "task")();
    observation.end?.(new Error("y".repeat(10_000)));
    const [recorded] = recorder.since(0);
    expect([recorded?.path.length, recorded?.error?.length, recorded?.steps.length]).toEqual([300, 300, 100]);
  });
});
