/** A server in memory that keeps every statement that it can: the one that deliberately broken servers are made of. */
import { overFetch, type ServerLacks, type StartServer } from "../../src/conformance.js";
import { Lifespan } from "../../src/lifespan.js";
import { ServerContext } from "../../src/protocol/server-context.js";
import { OPEN, TestWebSocket } from "../../src/testing/test-websocket.js";
import { MemoryWebSocket } from "../../src/testing/memory-websocket.js";
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
  const context = new ServerContext(app, logger, { state });
  const handler = toFetchHandler(app, { logger, state, lifespan: "off" });
  const close = async (): Promise<void> => {
    context.drain();
    await handler.close();
    await lifespan.shutDown();
  };
  return {
    ...overFetch(handler, close),
    websocket: ({ target = "/", headers = [], subprotocols = [] }) => {
      const list = headers.map(([name, value]): [string, string] => [name, value]);
      const handshake = { target, headers: list, subprotocols, server: ["127.0.0.1", 80] } as const;
      return openedInMemory(() => TestWebSocket[OPEN](new MemoryWebSocket(context, handshake)));
    },
  };
};
