/** A WebSocket of a client, in frames of RFC 6455 §5. @module */
import { randomBytes } from "node:crypto";
import { Deferred, MessageQueue } from "tsgi/internals";
import type { ClientClose, ClientWebSocket } from "./client.js";
import type { Wire } from "./wire.js";

const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

/** Masked, as clients must do. */
function toFrame(opcode: number, payload: Uint8Array, isFinal = true): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 2 : 4);
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (payload.length < 126 ? payload.length : 126);
  if (payload.length >= 126) head.writeUInt16BE(payload.length, 2);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index % 4] as number))]);
}

async function readFrame(wire: Wire): Promise<Frame> {
  const [first = 0, second = 0] = await wire.read(2);
  let length = second & 0x7f;
  if (length === 126) length = (await wire.read(2)).readUInt16BE();
  else if (length === 127) length = Number((await wire.read(8)).readBigUInt64BE());
  return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload: await wire.read(length) };
}

/** A WebSocket after its handshake. */
export class FramedWebSocket implements ClientWebSocket {
  readonly subprotocol: string | null;
  readonly #wire: Wire;
  readonly #inbox = new MessageQueue<string | Uint8Array>();
  readonly #closed = new Deferred<ClientClose>();
  readonly closed = this.#closed.promise;
  #pong = new Deferred<string>();
  #parts: Buffer[] = [];
  #isText = false;
  #isClosing = false;

  constructor(wire: Wire, subprotocol: string | null) {
    this.#wire = wire;
    this.subprotocol = subprotocol;
    void this.#read();
  }

  async #read(): Promise<void> {
    try {
      while (this.#take(await readFrame(this.#wire)));
    } catch {
      this.#ended({ code: 1006, reason: "" });
    }
  }

  /** Takes a frame. Gives `false` for the last one. */
  #take({ opcode, isFinal, payload }: Frame): boolean {
    if (opcode === OPCODE.close) {
      const code = payload.length < 2 ? 1005 : payload.readUInt16BE();
      if (!this.#isClosing) this.#wire.write(toFrame(OPCODE.close, payload.subarray(0, 2)));
      this.#ended({ code, reason: payload.toString("utf8", 2) });
      this.#wire.socket.end();
      return false;
    }
    if (opcode === OPCODE.ping) this.#wire.write(toFrame(OPCODE.pong, payload));
    else if (opcode === OPCODE.pong) this.#pong.resolve(payload.toString());
    else this.#message(opcode, isFinal, payload);
    return true;
  }

  #message(opcode: number, isFinal: boolean, payload: Buffer): void {
    if (opcode !== OPCODE.continuation) this.#isText = opcode === OPCODE.text;
    this.#parts.push(payload);
    if (!isFinal) return;
    const data = Buffer.concat(this.#parts.splice(0));
    this.#inbox.push(this.#isText ? data.toString() : new Uint8Array(data));
  }

  #ended(how: ClientClose): void {
    this.#closed.resolve(how);
    const error = new Error(`The WebSocket has ended with ${how.code}.`);
    this.#inbox.fail(error);
    this.#pong.reject(error);
  }

  async send(data: string | Uint8Array): Promise<void> {
    const isText = typeof data === "string";
    this.#wire.write(toFrame(isText ? OPCODE.text : OPCODE.binary, isText ? Buffer.from(data) : data));
  }

  async sendFragments(...parts: readonly string[]): Promise<void> {
    for (const [index, part] of parts.entries()) {
      const opcode = index === 0 ? OPCODE.text : OPCODE.continuation;
      this.#wire.write(toFrame(opcode, Buffer.from(part), index === parts.length - 1));
    }
  }

  ping(payload: string): Promise<string> {
    this.#pong = new Deferred();
    this.#wire.write(toFrame(OPCODE.ping, Buffer.from(payload)));
    return this.#pong.promise;
  }

  receive(): Promise<string | Uint8Array> {
    return this.#inbox.take();
  }

  async close(code?: number, reason = ""): Promise<void> {
    const head = Buffer.alloc(code === undefined ? 0 : 2);
    if (code !== undefined) head.writeUInt16BE(code);
    this.#isClosing = true;
    this.#wire.write(toFrame(OPCODE.close, Buffer.concat([head, Buffer.from(reason)])));
  }

  terminate(): void {
    this.#wire.socket.destroy();
  }
}
