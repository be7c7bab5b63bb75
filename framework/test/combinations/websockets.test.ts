/** The WebSockets of the tool library over every driver that has them, from one table. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { WebSocketRefusedError } from "tsgi/testing";
import { KeptLog } from "../support/kept-log.js";
import { Ended } from "../support/socket-peer.js";
import { conversations, refusals } from "./_conversations.js";
import { driversOfRun, type Handshake, type Peer, type Served } from "./_drivers.js";
import { createApp } from "./app/app.js";

/** The refusal of a handshake, in the words of every driver. */
async function refusalOf(connected: Promise<Peer>): Promise<object> {
  const refused: unknown = await connected.then(
    ({ closed }) => closed,
    (error: unknown) => error,
  );
  if (refused instanceof WebSocketRefusedError) {
    const { statusCode, code } = refused;
    return { statusCode, body: parsed(refused.text()), ...(statusCode === null && { code }) };
  }
  if (!(refused instanceof Ended)) throw refused;
  const { statusCode, code, body } = refused;
  return { statusCode, body: parsed(body), ...(statusCode === null && { code }) };
}

const parsed = (text: string): unknown => (text.startsWith("{") ? JSON.parse(text) : text);

const withSockets = driversOfRun("toNodeHandler on node:http").filter(({ hasWebSockets }) => hasWebSockets);

describe.each(withSockets)("a WebSocket of the library by $name", ({ start }) => {
  let served: Served;
  let peer: Peer | null = null;
  beforeAll(async () => {
    served = await start(createApp({ logger: new KeptLog() }).app);
  });
  beforeEach(() => served.reset());
  afterEach(async () => {
    await peer?.close();
    peer = null;
  });
  afterAll(() => served.close());

  const connect = (path: string, handshake?: Handshake): Promise<Peer> => {
    if (served.connect === null) throw new Error("This driver has no WebSockets.");
    return served.connect(path, handshake);
  };

  it.each(conversations)("$title", async ({ path, handshake, talk, expected }) => {
    peer = await connect(path, handshake);
    expect(await talk(peer, served)).toEqual(expected);
  });

  it.each(refusals)("$title", async ({ path, handshake, expected }) => {
    expect(await refusalOf(connect(path, handshake))).toEqual(expected);
  });
});
