/** Clients of HTTP/2 for tests: one that writes frames by hand, and one request of `node:http2`. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** RFC 9113 §6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;

/** RFC 9113 §7. */
export const CODE = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  frameSizeError: 6,
  refusedStream: 7,
  enhanceYourCalm: 11,
} as const;

export interface Frame {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** RFC 7541 §6.2.2: a literal field without indexing, its name and value as they are. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const length = [127]; // RFC 7541 §5.1
  for (let rest = bytes.length - 127; ; rest >>= 7) {
    if (rest < 128) return Buffer.concat([Buffer.of(...length, rest), bytes]);
    length.push((rest & 127) | 128);
  }
}

export type Fields = readonly (readonly [name: string, value: string])[];

export const GET: Fields = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "a"],
];

/** The HEADERS frame of a request. */
export function request(
  stream: number,
  fields: Fields = GET,
  flags: number = FLAG.endStream | FLAG.endHeaders,
): Buffer {
  return frame(FRAME.headers, flags, stream, Buffer.concat(fields.map(([name, value]) => field(name, value))));
}

/** The same with fields that replace those of a GET, or are added to it. */
export function fieldsOf(changes: Record<string, string>): Fields {
  const changed = { ...Object.fromEntries(GET), ...changes };
  return Object.entries(changed).toSorted(([a], [b]) => Number(b.startsWith(":")) - Number(a.startsWith(":")));
}

/** A connection on which a test writes frames. */
export class FrameWire implements AsyncDisposable {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<void>;
  #bytes: Buffer = Buffer.alloc(0);
  #wake: () => void = () => {};

  /** @param socket - Defaults to one without TLS that ends with the server's side. */
  constructor(port: number, socket: Socket = connectSocket(port, "127.0.0.1")) {
    this.socket = socket;
    this.socket.setNoDelay(true);
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    this.closed = new Promise((resolve) => {
      this.socket.once("close", () => {
        resolve();
        this.#wake();
      });
    });
  }

  /** Begins the connection: the preface, and SETTINGS. */
  begin(settings: Uint8Array = Buffer.alloc(0)): this {
    return this.write(Buffer.from(PREFACE), frame(FRAME.settings, 0, 0, settings));
  }

  write(...chunks: Uint8Array[]): this {
    if (this.socket.writable) this.socket.write(Buffer.concat(chunks));
    return this;
  }

  /** Writes the same again and again, no faster than the server reads, until the connection closes. */
  async flood(next: () => Uint8Array): Promise<void> {
    while (!this.socket.closed) {
      if (!this.socket.writable) await this.closed;
      else if (!this.socket.write(next()))
        await Promise.race([once(this.socket, "drain"), this.closed]).catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The first frame that fits, as soon as it has come. */
  async until(fits: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found !== undefined) return found;
      if (this.socket.closed) throw new Error(`closed after ${JSON.stringify(this.frames)}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The code of the last GOAWAY, or `null`. */
  get goawayCode(): number | null {
    return this.frames.findLast(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4) ?? null;
  }

  #onData(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 9) {
      const end = 9 + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) break;
      const [type, flags] = [this.#bytes.readUInt8(3), this.#bytes.readUInt8(4)];
      this.frames.push({ type, flags, stream: this.#bytes.readUInt32BE(5), payload: this.#bytes.subarray(9, end) });
      this.#bytes = this.#bytes.subarray(end);
    }
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The status of interim responses. */
  interim: number[];
}

/** A client of `node:http2` on one connection. */
export class HTTP2Client implements AsyncDisposable {
  readonly session: ClientHttp2Session;

  constructor(url: string) {
    // The body of a request that the server has stopped stays in the client's account.
    this.session = connect(url, { rejectUnauthorized: false, maxSessionMemory: 1000 });
    this.session.on("error", () => {});
  }

  /** Sends a request, and reads its response. Fails with the code of a reset. */
  async request(headers: OutgoingHttpHeaders, body?: string | Uint8Array): Promise<Answer> {
    const stream = this.session.request(headers, { endStream: body === undefined });
    const interim: number[] = [];
    stream.on("headers", (fields: IncomingHttpHeaders) => interim.push(Number(fields[":status"])));
    if (body !== undefined) stream.end(body);
    const responded = new Promise<IncomingHttpHeaders>((resolve, reject) => {
      stream.on("response", resolve);
      stream.on("error", (error) => reject(new Error(`reset with ${stream.rstCode}`, { cause: error })));
      stream.on("close", () => reject(new Error(`reset with ${stream.rstCode}`)));
    });
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    const fields = await responded;
    const closed = new Promise<void>((resolve, reject) => {
      stream.on("close", () => {
        if (stream.rstCode === 0) resolve();
        else reject(new Error(`reset with ${stream.rstCode}`));
      });
    });
    if (!stream.closed) await closed;
    const { ":status": status, ...rest } = fields;
    return { status: Number(status), headers: rest, body: Buffer.concat(chunks).toString("latin1"), interim };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.session.destroyed) return;
    const closed = once(this.session, "close");
    this.session.destroy();
    await closed;
  }
}
