/** A server in memory that keeps every statement that it can: the one that deliberately broken servers are made of. */
import { overFetch, type ServerLacks, type StartServer } from "../../src/conformance.js";
import { Lifespan } from "../../src/lifespan.js";
import { createWebSocketScope } from "../../src/testing/scope.js";
import { OPEN, TestWebSocket } from "../../src/testing/test-websocket.js";
import { WebSocketCall } from "../../src/testing/websocket-call.js";
import { toFetchHandler } from "../../src/web.js";
import { KeptLog } from "../support/kept-log.js";
import { openedInMemory } from "./_servers.js";

/** The features that it is without. */
export const MEMORY_LACKS: ServerLacks = {
  frames: "its WebSockets are in memory",
  "raw-headers": "`Headers` of the platform joins repeated ones",
};

/** Starts it. */
export const startInMemory: StartServer = async (app) => {
  const logger = new KeptLog();
  const lifespan = new Lifespan(app, logger);
  const failure = await lifespan.startUp();
  if (failure !== null) throw new Error(failure.message);
  const { state } = lifespan;
  const calls: WebSocketCall[] = [];
  const handler = toFetchHandler(app, { logger, state, lifespan: "off" });
  const close = async (): Promise<void> => {
    for (const call of calls) call.leave(1012, "");
    await handler.close();
    await lifespan.shutDown();
  };
  return {
    ...overFetch(handler, close),
    websocket: ({ target = "/", headers = [], subprotocols = [] }) => {
      const list = headers.map(([name, value]): [string, string] => [name, value]);
      const scope = createWebSocketScope({ target, headers: list, subprotocols, server: ["127.0.0.1", 80], state });
      const call = new WebSocketCall(app, scope);
      calls.push(call);
      return openedInMemory(() => TestWebSocket[OPEN](call));
    },
  };
};
