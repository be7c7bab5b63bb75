/** Compressed messages and their negotiation: RFC 7692, with no dictionary between messages (300 KiB per connection). @module */
import { constants, deflateRaw, inflateRaw, type InflateRaw } from "node:zlib";
import { Limiter } from "../../concurrency/limiter.js";
import { parseList, TCHAR } from "../../../protocol/http-grammar.js";

/** An extension that a client offers. */
interface ExtensionOffer {
  readonly name: string;
  /** In their order; a parameter without a value has `null`. */
  readonly parameters: readonly (readonly [name: string, value: string | null])[];
}

const NAME = new RegExp(`[${TCHAR}]+`, "y");
/** A quoted value is a token too, each of its characters escaped or not. No part of it can match in two ways. */
const PARAMETER = new RegExp(
  `[ \\t]*;[ \\t]*([${TCHAR}]+)(?:[ \\t]*=[ \\t]*(?:([${TCHAR}]+)|"((?:\\\\?[${TCHAR}])+)"))?`,
  "y",
);

/** The offers of a header; `null` if it is malformed. @see RFC 6455 §9.1 */
export function parseExtensions(text: string): ExtensionOffer[] | null {
  const offers: ExtensionOffer[] = [];
  for (const member of parseList(text)) {
    const offer = parseOffer(member);
    if (offer === null) return null;
    offers.push(offer);
  }
  return offers.length === 0 ? null : offers;
}

function parseOffer(text: string): ExtensionOffer | null {
  NAME.lastIndex = 0;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return null;
  const parameters: [string, string | null][] = [];
  let end = name.length;
  while (end < text.length) {
    PARAMETER.lastIndex = end;
    const match = PARAMETER.exec(text);
    if (match === null) return null;
    const [, parameter = "", token, quoted] = match;
    parameters.push([parameter, token ?? quoted?.replaceAll("\\", "") ?? null]);
    end = PARAMETER.lastIndex;
  }
  return { name, parameters };
}

/** Messages that are compressed or decompressed at the same time: each keeps up to 300 KiB while it waits for a thread. */
const MAX_AT_ONCE = 10;
/** The empty block that ends each message, and is not sent: RFC 7692 §7.2.1. */
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);
const EMPTY = Buffer.alloc(0);
const DEFAULT_WINDOW_BITS = 15;
/** DEFLATE streams of one message. Attack: an empty one has 2 bytes, and needs a decompressor. */
const MAX_STREAMS = 16;
/** The code of `node:zlib` for an output that is longer than `maxOutputLength`, which is at least 1. */
const TOO_LARGE = "ERR_BUFFER_TOO_LARGE";

/** The windows of RFC 7692 §7.1.2, by the exponent of their bytes. */
const WINDOW_BITS = /^(?:[89]|1[0-5])$/;

/** The compression that both sides have agreed on. */
export class Compression {
  /** The value of `Sec-WebSocket-Extensions` in the response. */
  readonly accepted: string;
  readonly #windowBits: number;

  constructor(windowBits: number | null) {
    const window = windowBits === null ? "" : `; server_max_window_bits=${windowBits}`;
    this.accepted = `permessage-deflate; server_no_context_takeover; client_no_context_takeover${window}`;
    this.#windowBits = windowBits ?? DEFAULT_WINDOW_BITS;
  }

  compress(message: Buffer): Promise<Buffer> {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, windowBits: this.#windowBits };
    return inTurn<Buffer>((done) => deflateRaw(message, options, done)).then((bytes) =>
      bytes.subarray(0, -TAIL.length),
    );
  }

  /**
   * Decompresses all DEFLATE streams of a message: RFC 7692 §7.2.1 allows further blocks after a final one, with which a
   * stream ends. Rejects with the code `ERR_BUFFER_TOO_LARGE` for a message that becomes longer than `maxBytes`.
   */
  async decompress(message: Buffer, maxBytes: number): Promise<Buffer> {
    let rest = Buffer.concat([message, TAIL]);
    let bytes: Buffer = EMPTY;
    for (let streams = 0; rest.length > TAIL.length; streams++) {
      if (streams === MAX_STREAMS) throw new RangeError(`The message has more than ${MAX_STREAMS} final blocks.`);
      const { buffer, engine } = await inflate(rest, maxBytes - bytes.length);
      bytes = streams === 0 ? buffer : Buffer.concat([bytes, buffer]);
      if (bytes.length > maxBytes) throw Object.assign(new RangeError("The message is too long."), { code: TOO_LARGE });
      rest = rest.subarray(engine.bytesWritten);
    }
    return bytes;
  }
}

/** A decompressed stream. The decompressor counts the bytes that it has read. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: InflateRaw;
}

/** Decompresses up to a final block. */
function inflate(bytes: Buffer, maxBytes: number): Promise<Inflated> {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: Math.max(maxBytes, 1), info: true };
  // The types of `node:zlib` omit the effect of `info`.
  return inTurn<unknown>((done) => inflateRaw(bytes, options, done)) as Promise<Inflated>;
}

/** The first acceptable offer of a handshake, or `null`. */
export function acceptOffer(extensions: string | undefined): Compression | null {
  for (const { name, parameters } of parseExtensions(extensions ?? "") ?? []) {
    const windowBits = name === "permessage-deflate" ? windowBitsOf(parameters) : undefined;
    if (windowBits !== undefined) return new Compression(windowBits);
  }
  return null;
}

/**
 * The window that the client requests from the server, or `null`. `undefined` for an offer to decline (RFC 7692 §7.1).
 */
function windowBitsOf(parameters: ExtensionOffer["parameters"]): number | null | undefined {
  const values = new Map(parameters);
  if (values.size !== parameters.length || !parameters.every(isAcceptable)) return undefined;
  const bits = values.get("server_max_window_bits");
  return bits === undefined ? null : Number(bits);
}

function isAcceptable([name, value]: ExtensionOffer["parameters"][number]): boolean {
  switch (name) {
    case "server_no_context_takeover":
    case "client_no_context_takeover":
      return value === null;
    case "client_max_window_bits":
      return value === null || WINDOW_BITS.test(value);
    case "server_max_window_bits":
      return value !== null && WINDOW_BITS.test(value);
    default:
      return false;
  }
}

const limiter = new Limiter({ maxRunning: MAX_AT_ONCE, maxWaiting: Number.MAX_SAFE_INTEGER });

/** Runs a task of `node:zlib`, a few at once over all connections. */
function inTurn<T>(task: (done: (error: Error | null, result: T) => void) => void): Promise<T> {
  return limiter.run(
    () => new Promise((resolve, reject) => task((error, result) => (error ? reject(error) : resolve(result)))),
  );
}
