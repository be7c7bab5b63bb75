/** Requests whose client disconnects before the response, on every driver. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, type ASGIApp, HTTPException, Response, StreamingResponse } from "../../../src/index.js";
import { accessLog } from "../../../src/middleware/index.js";
import { Deferred } from "../../../src/common/promises.js";
import type { ClientResponse } from "@tsgi/conformance";
import { drivers } from "../../protocol/_drivers.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

/** An App that responds after its server knows that the client has disconnected. */
function create() {
  const begun = new Deferred<void>();
  const left = new Deferred<void>();
  const logged = new Deferred<Record<string, unknown>>();
  const app = new App({
    logger: new KeptLog(),
    instrumentation: accessLog({ write: (line) => logged.resolve(JSON.parse(line) as Record<string, unknown>) }),
  });
  const late = async () => {
    begun.resolve();
    await left.promise;
  };
  app.get("/json", async () => late().then(() => "late"));
  app.get("/response", async () => late().then(() => new Response("late", { statusCode: 201 })));
  app.get("/missing", async () => late().then(() => Promise.reject(new HTTPException(404))));
  app.get("/stream", async () => late().then(() => new StreamingResponse(["late"])));
  app.get("/begun", async function* () {
    yield "early";
    await late();
    yield "late";
  });
  return { app, begun, left, logged };
}

/** Reads a response until the client disconnects. */
async function readAll(response: Promise<ClientResponse>): Promise<void> {
  try {
    for await (const _ of (await response).body);
  } catch {}
}

describe.each(drivers.filter(({ name }) => name !== "TestClient"))("on $name", (driver) => {
  beforeAll(() => driver.open?.());
  afterAll(() => driver.close?.());

  it.each([
    ["/json", null],
    ["/response", null],
    ["/missing", null],
    ["/stream", null],
    ["/begun", 200],
  ])("a request for %s whose client disconnects early is logged with the status %p", async (target, status) => {
    const { app, begun, left, logged } = create();
    const watched: ASGIApp = (scope, receive, send) => {
      if (scope.type === "http")
        void receive()
          .then(receive)
          .then(() => left.resolve());
      return app(scope, receive, send);
    };
    const server = await driver.start(watched, { logger: new KeptLog(), state: {} });
    const client = new AbortController();
    const sent = readAll(server.request({ target, signal: client.signal }));
    await begun.promise;
    client.abort();
    expect(await logged.promise).toMatchObject({ route: target, status });
    await sent;
    await server.stop();
  });
});

const withHandshakes = drivers.filter(({ lacks }) => !lacks.websocket && !lacks["early disconnect"]);

describe.each(withHandshakes)("on $name", (driver) => {
  beforeAll(() => driver.open?.());
  afterAll(() => driver.close?.());

  it("a handshake whose client disconnects early is logged without a status", async () => {
    const { app, begun, logged } = create();
    app.websocket("/ws", { params: { signal: AbortSignal } }, async ({ ws, signal }) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await ws.close();
    });
    const server = await driver.start(app, { logger: new KeptLog(), state: {} });
    const client = new AbortController();
    const refused = server.websocket?.({ target: "/ws", signal: client.signal }).catch(() => "lost");
    await begun.promise;
    client.abort();
    expect(await logged.promise).toMatchObject({ route: "/ws", status: null });
    expect(await refused).toBe("lost");
    await server.stop();
  });
});

describe("by fetch", () => {
  it("a request is logged without a status even if only the observation reads the signal", async () => {
    const { app, begun, left, logged } = create();
    const client = new AbortController();
    const sent = app.fetch(new Request("http://localhost/json", { signal: client.signal }));
    await begun.promise;
    client.abort();
    left.resolve();
    expect(await logged.promise).toMatchObject({ status: null, bytes: 0 });
    await sent;
    await app.fetch.close();
  });
});
