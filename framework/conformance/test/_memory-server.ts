/** A server in memory that keeps every statement that it can: the one that deliberately broken servers are made of. */
import { overFetch, type ServerLacks, type StartServer } from "../src/index.js";
import { Lifespan } from "../../core/src/protocol/lifespan.js";
import { ServerContext } from "../../core/src/protocol/server-context.js";
import { CONNECT } from "../../core/src/platforms/testing/test-websocket.js";
import { TestWebSocket } from "tsgi/testing";
import { MemoryWebSocket } from "../../core/src/platforms/testing/memory-websocket.js";
import { toFetchHandler } from "tsgi/web";
import { KeptLog } from "../../test/support/kept-log.js";
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
      return openedInMemory(() => TestWebSocket[CONNECT](new MemoryWebSocket(context, handshake)));
    },
  };
};
