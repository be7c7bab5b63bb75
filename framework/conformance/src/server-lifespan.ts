/** The statements about servers and the lifespan. @module */
import type { HTTPScope, LifespanScope, WebSocketScope } from "tsgi";
import { nextTurn } from "tsgi/internals";
import { type ServerFeature, type StartedServer, type StartServer, withServer } from "./client.js";
import { respondToLifespan, application, type Call, fetchWhole, handshake, opened, respond } from "./server-calls.js";
import { mustHaveVersion } from "./server-http-request.js";
import { inTime, must, mustEqual, type Statement, toStatements } from "./statement.js";

/** Runs a lifespan, and one request in it. */
function living(start: StartServer, lifespan: (call: Call<LifespanScope>) => Promise<void>): Promise<void> {
  return withServer(start, application({ lifespan }), async (server) => {
    mustEqual((await fetchWhole(server)).status, 200, "the status of a request");
  });
}

async function checkScope(start: StartServer): Promise<void> {
  const scopes: LifespanScope[] = [];
  await living(start, async ({ scope, receive, send }) => {
    scopes.push(scope);
    await respondToLifespan(receive, send);
  });
  mustEqual(scopes.length, 1, "the number of lifespans");
  for (const scope of scopes) mustHaveVersion(scope);
}

async function checkMessages(start: StartServer): Promise<void> {
  const types: string[] = [];
  await living(start, async ({ receive, send }) => {
    types.push((await receive()).type);
    await send({ type: "lifespan.startup.complete" });
    types.push((await receive()).type);
    await send({ type: "lifespan.shutdown.complete" });
  });
  mustEqual(types, ["lifespan.startup", "lifespan.shutdown"], "the messages of the lifespan");
}

async function checkStartUpWaits(start: StartServer): Promise<void> {
  let isReady = false;
  let wasReady = false;
  const lifespan = async ({ receive, send }: Call<LifespanScope>): Promise<void> => {
    await receive();
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    isReady = true;
    await send({ type: "lifespan.startup.complete" });
    await receive();
    await send({ type: "lifespan.shutdown.complete" });
  };
  const http = async ({ send }: Call<HTTPScope>): Promise<void> => {
    wasReady = isReady;
    await respond(send);
  };
  await withServer(start, application({ lifespan, http }), (server) => fetchWhole(server));
  must(wasReady, "Expected the request to wait for lifespan.startup.complete.");
}

/** Keeps a value and a list in the state. */
async function fillState({ scope, receive, send }: Call<LifespanScope>): Promise<void> {
  if (scope.state) Object.assign(scope.state, { value: "kept", list: [] });
  await respondToLifespan(receive, send);
}

/** Reads the state in a request, and writes it there. */
function look({ state = {} }: HTTPScope | WebSocketScope): unknown[] {
  const list = state["list"];
  const seen = [state["value"], Array.isArray(list) ? list.length : null];
  state["value"] = "changed";
  if (Array.isArray(list)) list.push("more");
  return seen;
}

async function checkState(start: StartServer): Promise<void> {
  const seen: unknown[] = [];
  const http = async ({ scope, send }: Call<HTTPScope>): Promise<void> => {
    seen.push(look(scope));
    await respond(send);
  };
  await withServer(start, application({ lifespan: fillState, http }), async (server) => {
    await fetchWhole(server);
    await fetchWhole(server);
  });
  mustEqual(
    seen,
    [
      ["kept", 0],
      ["kept", 1],
    ],
    "the state in two requests that change it",
  );
}

async function checkWebSocketState(start: StartServer): Promise<void> {
  const seen: unknown[] = [];
  const websocket = async ({ scope, receive, send }: Call<WebSocketScope>): Promise<void> => {
    seen.push(look(scope));
    await receive();
    await send({ type: "websocket.accept" });
  };
  const open = async (server: StartedServer): Promise<void> => {
    const webSocket = opened(await handshake(server, {}));
    await webSocket.close(1000);
    await webSocket.closed;
  };
  await withServer(start, application({ lifespan: fillState, websocket }), async (server) => {
    await open(server);
    await open(server);
  });
  mustEqual(
    seen,
    [
      ["kept", 0],
      ["kept", 1],
    ],
    "the state in two WebSockets that change it",
  );
}

async function checkFailure(start: StartServer): Promise<void> {
  let calls = 0;
  const http = async ({ send }: Call<HTTPScope>): Promise<void> => {
    calls++;
    await respond(send);
  };
  const lifespan = async ({ receive, send }: Call<LifespanScope>): Promise<void> => {
    await receive();
    await send({ type: "lifespan.startup.failed", message: "on purpose" });
  };
  const server = await start(application({ lifespan, http })).catch(() => null);
  if (server !== null) {
    await inTime(fetchWhole(server), "an answer").catch(() => {}); // a missing response is correct as well
    await inTime(server.close(), "the server to close");
  }
  mustEqual(calls, 0, "the number of requests behind a startup that failed");
}

async function checkShutdownWaits(start: StartServer): Promise<void> {
  let isOver = false;
  await living(start, async ({ receive, send }) => {
    await receive();
    await send({ type: "lifespan.startup.complete" });
    await receive();
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    isOver = true;
    await send({ type: "lifespan.shutdown.complete" });
  });
  must(isOver, "Expected the server to wait for lifespan.shutdown.complete.");
}

async function checkShutdownFailure(start: StartServer): Promise<void> {
  const lifespan = async ({ receive, send }: Call<LifespanScope>): Promise<void> => {
    await receive();
    await send({ type: "lifespan.startup.complete" });
    await receive();
    await send({ type: "lifespan.shutdown.failed", message: "on purpose" });
  };
  const server = await inTime(start(application({ lifespan })), "the server to start");
  await inTime(fetchWhole(server), "an answer");
  const closed = server.close().catch(() => {}); // it may say so
  await inTime(closed, "the server to close");
}

const STATE = "lifespan#lifespan-state";

export const lifespanServerStatements: readonly Statement<StartServer, ServerFeature>[] = toStatements(
  "lifespan",
  ["lifespan"],
  [
    [
      "lifespan.scope",
      "must",
      "lifespan#scope",
      "There is one lifespan for all requests, and `asgi.version` of its scope is text.",
      checkScope,
    ],
    [
      "lifespan.messages",
      "must",
      "lifespan#startup-receive-event",
      "The application gets `lifespan.startup`, and at the end `lifespan.shutdown`.",
      checkMessages,
    ],
    [
      "lifespan.startup.waits",
      "must",
      "lifespan#startup-complete-send-event",
      "No request is served before `lifespan.startup.complete`.",
      checkStartUpWaits,
    ],
    [
      "lifespan.startup.failed",
      "must",
      "lifespan#startup-failed-send-event",
      "No request is served after `lifespan.startup.failed`.",
      checkFailure,
    ],
    [
      "lifespan.state",
      "should",
      STATE,
      "Each request has a shallow copy of the state that startup has filled.",
      checkState,
    ],
    [
      "lifespan.state-of-websockets +websocket",
      "should",
      STATE,
      "Each WebSocket has a shallow copy of the state that startup has filled.",
      checkWebSocketState,
    ],
    [
      "lifespan.unsupported",
      "must",
      "lifespan#scope",
      "An application that throws on the lifespan scope is served without a lifespan.",
      (start) => living(start, () => Promise.reject(new TypeError("No lifespan, on purpose."))),
    ],
    [
      "lifespan.unsupported-startup",
      "must",
      "lifespan#scope",
      "An application that throws on `lifespan.startup` is served without a lifespan.",
      (start) =>
        living(start, async ({ receive }) => {
          await receive();
          throw new TypeError("No startup, on purpose.");
        }),
    ],
    [
      "lifespan.shutdown.waits",
      "must",
      "lifespan#shutdown-complete-send-event",
      "The server waits for `lifespan.shutdown.complete` before it ends.",
      checkShutdownWaits,
    ],
    [
      "lifespan.shutdown.failed",
      "must",
      "lifespan#shutdown-failed-send-event",
      "The server exits after `lifespan.shutdown.failed` as well.",
      checkShutdownFailure,
    ],
  ],
);
