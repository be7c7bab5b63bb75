/** The cases of the Autobahn test suite over a socket. */
import { connect, type Socket } from "node:net";
import { constants, inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { installLoop, useLoopPackage } from "../../../src/platforms/concurrency/loop.js";
import type { ServeOptions } from "../../../src/node.js";
import {
  close,
  compressedFrameRows,
  compressedRows,
  type Cut,
  describeFrame,
  type End,
  limitRows,
  OFFERS,
  protocolRows,
  type Row,
} from "./_autobahn-table.js";
import { type Served, served } from "./_http.js";
import { IS_SLOW } from "../../../../test/support/on-demand.js";
import { fetchedUws } from "../../../../uwebsockets/test/_uws.js";
import { echo, GOOD, handshake } from "./_websocket.js";

const KINDS: Readonly<Record<number, string>> = { 1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong" };
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);

/** The frames of a server: without masks and fragments. */
function readFrames(bytes: Buffer): { described: string[]; end: End } {
  const described: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] as number;
    const short = bytes[at + 1] as number;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const length =
      lengthBytes === 0
        ? short
        : lengthBytes === 2
          ? bytes.readUInt16BE(at + 2)
          : Number(bytes.readBigUInt64BE(at + 2));
    const start = at + 2 + lengthBytes;
    const sent = bytes.subarray(start, start + length);
    const isCompressed = (first & 0x40) !== 0;
    const payload = isCompressed
      ? inflateRawSync(Buffer.concat([sent, TAIL]), { finishFlush: constants.Z_SYNC_FLUSH })
      : sent;
    if ((first & 15) === 8) return { described, end: length === 0 ? 1005 : payload.readUInt16BE(0) };
    described.push(describeFrame(KINDS[first & 15] ?? `opcode ${first & 15}`, payload));
    at = start + length;
  }
  return { described, end: "failed" };
}

async function write(socket: Socket, frames: readonly Buffer[], cut: Cut): Promise<void> {
  const whole = Buffer.concat(frames);
  const bytes = cut === "by byte" ? 1 : Number(/\d+/.exec(cut)?.[0] ?? whole.length);
  const packets =
    cut === "by frame"
      ? frames
      : Array.from({ length: Math.ceil(whole.length / bytes) }, (_, index) =>
          whole.subarray(index * bytes, (index + 1) * bytes),
        );
  for (const packet of packets) {
    if (socket.destroyed) return;
    await new Promise<unknown>((resolve) => socket.write(packet, resolve));
  }
}

/** Sends the frames of a row, with the client's close in the same packet, and reads until the connection is closed. */
async function answersTo(
  port: number,
  [, , frames, , end, cut = "at once"]: Row,
  headers = "",
): Promise<{ described: string[]; end: End }> {
  const socket = connect(port, "127.0.0.1").setNoDelay();
  const chunks: Buffer[] = [];
  let received = 0;
  const opened = new Promise<void>((resolve) =>
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      received += chunk.length;
      if (received > 100 || chunk.includes("\r\n\r\n")) resolve();
    }),
  );
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(handshake(GOOD + headers));
  await opened;
  const hasClose = end !== 1000 || frames.some((frame) => (frame[0] as number) === 0x88);
  await write(socket, hasClose ? frames : [...frames, close(1000)], cut);
  await closed;
  const all = Buffer.concat(chunks);
  return readFrames(all.subarray(all.indexOf("\r\n\r\n") + 4));
}

const FAILURES: readonly End[] = [1002, 1007];

/** Sends a row. Returns its frames and its end, the two codes of a failure as one. */
async function outcomeOf(port: number, row: Row, headers?: string): Promise<{ described: string[]; end: End }> {
  const { described, end } = await answersTo(port, row, headers);
  return { described, end: FAILURES.includes(end) && row[4] === "failed" ? "failed" : end };
}

const expectedOf = ([, , , described, end]: Row) => ({ described, end });

const title = ([id, rule, , , , cut = "at once"]: Row): string => `${id}: ${rule}, ${cut}`;
const named = (rows: readonly Row[]) => rows.map((row) => [title(row), row] as const);
const LARGE: ServeOptions = { connectionLimits: { webSocketMessageBytes: 16 << 20 } };

describe("Autobahn's cases on the Node server", () => {
  let server: Served;
  beforeAll(async () => {
    server = await served(echo, LARGE);
  });
  afterAll(() => server.close());

  it.each(named([...protocolRows, ...limitRows]))("%s", async (_title, row) => {
    expect(await outcomeOf(server.port, row)).toEqual(expectedOf(row));
    expect(server.logger.at("error")).toEqual([]);
  });
});

describe("Autobahn's cases of permessage-deflate", () => {
  let server: Served;
  beforeAll(async () => {
    server = await served(echo, { ...LARGE, webSocketCompression: true });
  });
  afterAll(() => server.close());

  describe.each(OFFERS)("%s, offered as %s", (id, offer) => {
    // Offers differ in the window and the context: without TSGI_SLOW, the others have the shortest and the longest message.
    const isWhole = IS_SLOW || id === OFFERS[0]?.[0];
    const rows = isWhole ? compressedRows : [compressedRows.at(0)!, compressedRows.at(-1)!];
    it.each(named(rows))("%s", async (_title, row) => {
      expect(await outcomeOf(server.port, row, `Sec-WebSocket-Extensions: ${offer}\r\n`)).toEqual(expectedOf(row));
    });
  });

  it.each(named(compressedFrameRows))("%s", async (_title, row) => {
    expect(await outcomeOf(server.port, row, "Sec-WebSocket-Extensions: permessage-deflate\r\n")).toEqual(
      expectedOf(row),
    );
  });
});

const uws = fetchedUws();

/**
 * uWebSockets.js decides these itself: a forbidden frame closes the connection together with earlier messages, close
 * codes are not checked according to RFC 6455 §7.4, some valid ones get no code in the reply, and a close overtakes
 * waiting messages.
 */
const unmetByUws = /^(?:3\.[234]|4\.[12]\.[345]|5\.1[145]|7\.3\.2|7\.5\.1|7\.7\.1[0-4]|7\.9\.\d+|9\.7\.\d)$/;

(uws === null ? describe.skip : describe)("Autobahn's cases on uWebSockets.js", () => {
  let server: Served;
  beforeAll(async () => {
    useLoopPackage(uws);
    installLoop("uwebsockets");
    server = await served(echo, LARGE);
  });
  afterAll(async () => {
    await server.close();
    installLoop("libuv");
    useLoopPackage(null);
  });

  const rows = [...protocolRows, ...limitRows].filter(([id]) => !unmetByUws.test(id));
  it.each(named(rows))("%s", async (_title, row) => {
    expect(await outcomeOf(server.port, row)).toEqual(expectedOf(row));
  });
});
