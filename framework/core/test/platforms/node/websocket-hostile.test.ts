/** Reading and memory of a WebSocket whose client is hostile. */
import { constants } from "node:buffer";
import { constants as zlib, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import { acceptOffer, Compression } from "../../../src/platforms/node/websocket/compression.js";
import { PingRound } from "../../../src/platforms/node/websocket/pings.js";
import { ServerWebSocket } from "../../../src/platforms/node/websocket/server-websocket.js";
import { maxMessageBytes } from "../../../src/platforms/node/websocket/handshake-rules.js";
import { Deferred } from "../../../src/common/promises.js";
import { MemorySocket } from "./_memory-socket.js";

const MAX_BYTES = 3000;

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** An open WebSocket, and the events of its session. */
function open(compression: Compression | null, onMessage: () => void = () => {}) {
  const socket = new MemorySocket();
  const seen: string[] = [];
  const events = {
    messaged: (data: string | Uint8Array) => {
      seen.push(describeMessage(data));
      onMessage();
    },
    whenCaughtUp: (callBack: () => void) => callBack(),
    violated: (code: number) => void seen.push(`violated ${code}`),
    closed: (code: number, reason: string) => void seen.push(`closed ${code} ${reason}`),
  };
  const options = { maxMessageBytes: MAX_BYTES, compression, pings: new PingRound(0) };
  return { socket, seen, webSocket: new ServerWebSocket({ socket, rest: Buffer.alloc(0) }, events, options) };
}

function describeMessage(data: string | Uint8Array): string {
  return typeof data === "string" ? `text ${data}` : `bytes ${Buffer.from(data).toString("hex")}`;
}

/** A whole frame with the mask 0 and a short payload. */
function frame(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

const deflated = (text: string) => deflateRawSync(text, { finishFlush: zlib.Z_SYNC_FLUSH }).subarray(0, -4);

describe("a WebSocket", () => {
  /** A compression that ends with a promise of the test. */
  class HeldCompression extends Compression {
    readonly #held: Promise<Buffer>;
    constructor(held: Promise<Buffer>) {
      super(null);
      this.#held = held;
    }
    override compress(): Promise<Buffer> {
      return this.#held;
    }
  }
  const long = "a".repeat(2000);

  it("replies to few of the pings that arrive while its pongs wait, and always to the last", async () => {
    const { promise, resolve } = new Deferred<Buffer>();
    const { socket, webSocket } = open(new HeldCompression(promise));
    webSocket.write(long, () => {});
    const pings = Buffer.concat(Array<Buffer>(10_000).fill(frame(0x89, Buffer.alloc(0))));
    for (let count = 0; count < 3; count++) socket.push(Buffer.from(pings));
    socket.push(frame(0x89, Buffer.from("last")));
    await turn();
    resolve(Buffer.from("message"));
    await turn();
    const answers = socket.written.split("\x8a\0").length - 1;
    expect(socket.written).toBe(`\xc1\x07message${"\x8a\0".repeat(answers)}\x8a\x04last`);
    expect(answers).toBeLessThan(100);
    socket.push(frame(0x89, Buffer.from("?")));
    await turn();
    expect(socket.written.endsWith("\x8a\x01?")).toBe(true);
  });

  it("closes if compression fails, and rejects all pending writes", async () => {
    const { promise, reject } = new Deferred<Buffer>();
    const { socket, seen, webSocket } = open(new HeldCompression(promise));
    const told = ["first", "second"].map(
      (text) => new Promise<string>((resolve) => webSocket.write(long, (error) => resolve(`${text} ${typeof error}`))),
    );
    reject(new Error("no memory"));
    expect(await Promise.all(told)).toEqual(["first object", "second object"]);
    await turn();
    expect(socket.destroyed).toBe(true);
    expect(seen).toEqual(["closed 1006 "]);
  });

  it("does not read while it is paused, and delivers all received data after it resumes", async () => {
    const { socket, seen, webSocket } = open(acceptOffer("permessage-deflate"), () => webSocket.pause());
    const messages = [frame(0xc1, deflated("z".repeat(MAX_BYTES))), frame(0x81, Buffer.from("a"))];
    socket.push(Buffer.concat([...messages, frame(0x88, Buffer.from([3, 232]))]));
    while (seen.length === 0) await turn();
    await turn();
    expect(seen).toEqual([`text ${"z".repeat(MAX_BYTES)}`]);
    webSocket.resume();
    expect(seen.slice(1)).toEqual(["text a"]);
    webSocket.resume();
    expect(socket.written).toBe("\x88\x02\x03\xe8");
  });

  it("is limited by the longest string if its application sets no limit", () => {
    const rules = {
      maxMessageBytes: Infinity,
      compression: false,
      pingMs: 0,
      allowedHosts: null,
      allowedOrigins: null,
    };
    expect(maxMessageBytes(rules, Infinity)).toBe(constants.MAX_STRING_LENGTH);
  });
});
