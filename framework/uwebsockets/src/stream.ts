/** One request on uWebSockets.js, which shows no connections: its response, and the flow of its body. @module */
import { STATUS_CODES } from "node:http";
import {
  type BodyFlow,
  MAX_UNSEEN_BYTES,
  type RequestBody,
  type ResponseHead,
  type ResponseStream,
  type ServerContext,
  SlowReader,
  type SlowResponses,
  type WaitingResponse,
} from "tsgi/internals";
import { ClientAddress } from "./client-address.js";
import type { UwsResponse } from "./module.js";

/** Beyond this many bytes a body is sent as the socket accepts it, instead of waiting in uWebSockets' memory. */
const MAX_COPIED_BYTES = 65_536;
/** Bytes of an unread body that are let pass so that the connection can be kept, as on sockets. */
const MAX_DISCARDED_BYTES = 65_536;
const NOT_ASCII = /[^\x00-\x7f]/; // oxlint-disable-line no-control-regex -- the range is that of ASCII
const EMPTY = new Uint8Array(0);

/** The settings that the streams of a server share. */
export interface UwsStreamSettings {
  /** The streams that are open. */
  readonly register: Set<UwsStream>;
  readonly slowResponses: SlowResponses;
  readonly requestMs: number;
}

/**
 * Writes a response.
 *
 * Headers that uWebSockets writes by itself are left out of the head: `Date`, `Content-Length`, and `Connection` where
 * the response is whole. A head is not sent without a body: it is sent with the first chunk.
 */
export class UwsStream implements ResponseStream, BodyFlow, WaitingResponse {
  destroyed = false;
  /** Called if the client disconnects before the response has ended. */
  onAborted: () => void = () => {};
  /** Cuts the connection. */
  onDestroy: () => void;
  /** The client. Can be asked for until the response has ended. */
  readonly client: ClientAddress;
  readonly #res: UwsResponse;
  readonly #context: ServerContext;
  readonly #settings: UwsStreamSettings;
  #head: ResponseHead | null = null;
  #isBegun = false;
  #isEnding = false;
  #hasEnded = false;
  #closes = false;
  /** The length that the head announces, or -1: then the body is chunked. */
  #total = -1;
  /** Chunks that wait for the socket, the first of them tried already. */
  readonly #waiting: Uint8Array[] = [];
  #isBlocked = false;
  /** Bytes in uWebSockets' memory, which waits for the socket. */
  #heldBytes = 0;
  /** Bytes of the body that the socket has accepted. */
  #takenBytes = 0;
  #reader: SlowReader | null = null;
  /** Bytes of the request's body that may still arrive: 0 if it is complete, `Infinity` if the length is unknown. */
  #outstanding = 0;
  /** `true` while the client has to wait with the body of its request. */
  #isPaused = false;
  /** The offset of the first waiting chunk when it was tried, in bytes of the body; -1 if it is not tried again. */
  #triedAt = -1;
  #isListening = false;
  #onFlushed: (() => void)[] = [];

  constructor(res: UwsResponse, context: ServerContext, settings: UwsStreamSettings) {
    this.#res = res;
    this.#context = context;
    this.#settings = settings;
    settings.register.add(this);
    this.client = new ClientAddress(res);
    this.onDestroy = () => res.close(); // aborts, too
    res.onAborted(() => {
      this.destroyed = true;
      this.client.forget();
      this.#settle();
      this.#settings.register.delete(this);
      this.onAborted();
    });
  }

  /**
   * Reads the body of the request as it arrives. To be called while the request's handler is.
   *
   * @param bodyBytes - Bytes of the body; `NaN` if the length is unknown.
   */
  receive(body: RequestBody, bodyBytes: number): void {
    this.#outstanding = Number.isNaN(bodyBytes) ? Infinity : bodyBytes;
    this.#res.onData((chunk, isLast) => {
      this.#outstanding = isLast ? 0 : this.#outstanding - chunk.byteLength;
      const copy = Buffer.from(new Uint8Array(chunk)); // the bytes are uWebSockets' own again after this
      if (body.take(copy, isLast) || isLast) return;
      this.#isPaused = true;
      this.#res.pause();
    });
  }

  want(): null {
    return null;
  }

  resume(): void {
    if (this.#isPaused) this.#res.resume();
    this.#isPaused = false;
  }

  respond(head: ResponseHead, content: Uint8Array | string): void {
    const body = typeof content === "string" ? Buffer.from(content, "latin1") : content;
    this.begin(head);
    if (body.length > MAX_COPIED_BYTES) {
      this.write(body);
      this.end();
      return;
    }
    this.#endReceiving();
    this.#res.cork(() => this.#whole(body));
  }

  begin(head: ResponseHead): void {
    this.#head = head;
    this.#total = head.facts.bodyless ? -1 : head.contentLength;
    this.#closes = head.headers.close || this.#outstanding > MAX_DISCARDED_BYTES || this.#context.draining;
  }

  write(chunk: Uint8Array): boolean {
    if (chunk.length > 0) {
      this.#waiting.push(chunk);
      this.#flush();
    }
    return !this.#isBlocked;
  }

  end(): void {
    this.#endReceiving();
    if (this.destroyed || this.#hasEnded) return;
    if (!this.#isBegun && this.#waiting.length === 0) this.#res.cork(() => this.#whole(EMPTY));
    else this.#flush();
  }

  flushed(): Promise<void> | undefined {
    if (this.destroyed || !this.#isBlocked) return undefined;
    return new Promise((resolve) => this.#onFlushed.push(resolve));
  }

  destroy(): void {
    if (!this.destroyed && !this.#hasEnded) this.onDestroy();
  }

  get waitingBytes(): number {
    if (!this.#isBlocked) return 0;
    return this.#waiting.reduce((sum, { length }) => sum + length, this.#heldBytes);
  }

  isLate(now: number, isCrowded: boolean): boolean {
    const unseenBytes = this.#total >= 0 ? Math.min(this.waitingBytes, MAX_UNSEEN_BYTES) : this.waitingBytes;
    this.#reader ??= new SlowReader();
    return this.#reader.isLate(this.#takenBytes, unseenBytes, now, this.#settings.requestMs, isCrowded);
  }

  /** The request has become a WebSocket, which has closed. */
  closed(): void {
    this.destroyed = true;
    this.#settings.register.delete(this);
  }

  /** The next request follows the rest of the body, and the request is not available after the end. */
  #endReceiving(): void {
    if (!this.destroyed && !this.#hasEnded) this.resume();
    this.#isEnding = true;
  }

  #whole(body: Uint8Array): void {
    if (body.length === 0) {
      // With a length as its argument, it takes the connection's next request for a pipelined one and cuts it.
      this.#writeHead("content-length");
      this.#res.endWithoutBody();
    } else {
      this.#writeHead(this.#closes ? "" : "connection");
      this.#res.end(body, this.#closes);
    }
    this.#ended();
  }

  /** @param own - A header to write that uWebSockets may write as well: not so where the response ends in this way. */
  #writeHead(own: "content-length" | "connection" | ""): void {
    this.#isBegun = true;
    const { status, headers: checked, contentLength } = this.#head as ResponseHead;
    this.#res.writeStatus(statusLine(status));
    const announced = own === "content-length" && checked.contentLength === -1 && contentLength !== -1;
    const headers = announced ? [...checked.raw, "content-length", String(contentLength)] : checked.raw;
    if (this.#closes && own !== "") this.#res.writeHeader("connection", "close");
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      const value = headers[index + 1] as string;
      const key = ownName(name);
      if (key === "" || key === own) {
        this.#res.writeHeader(name, NOT_ASCII.test(value) ? Buffer.from(value, "latin1") : value);
      }
    }
  }

  #flush(): void {
    if (!this.destroyed && !this.#isBlocked && !this.#hasEnded) {
      this.#res.cork(() => {
        if (!this.#isBegun) {
          this.#writeHead("connection");
        }
        while (!this.#isBlocked && !this.#hasEnded && this.#waiting.length > 0) {
          this.#writeFirst();
        }
        if (this.#isEnding && !this.#isBlocked && !this.#hasEnded) {
          // A second word of the closing would land in the body: the client has been told in the head.
          this.#res.end();
          this.#ended();
        }
      });
    }
  }

  #writeFirst(): void {
    const chunk = this.#waiting[0] as Uint8Array;
    if (this.#total >= 0) {
      const before = this.#res.getWriteOffset();
      const [isTaken, hasEnded] = this.#res.tryEnd(chunk, this.#total);
      if (hasEnded) {
        this.#ended();
      } else if (!isTaken) {
        this.#triedAt = before;
        this.#waitForSocket();
        return;
      }
    } else if (!this.#res.write(chunk)) {
      this.#heldBytes = chunk.length;
      this.#waitForSocket(); // all of it is in uWebSockets' memory
    }
    this.#waiting.shift();
  }

  #waitForSocket(): void {
    this.#isBlocked = true;
    this.#settings.slowResponses.add(this);
    if (!this.#isListening) {
      this.#isListening = true; // once: a listener that is set by a listener is lost
      this.#res.onWritable((offset) => this.#onWritable(offset));
    }
  }

  #onWritable(offset: number): boolean {
    if (!this.#isBlocked) {
      return true;
    }
    this.#isBlocked = false;
    this.#takenBytes = this.#total >= 0 ? offset : this.#takenBytes + this.#heldBytes;
    this.#heldBytes = 0;
    if (this.#triedAt >= 0) {
      this.#waiting[0] = (this.#waiting[0] as Uint8Array).subarray(offset - this.#triedAt);
      this.#triedAt = -1;
    }
    this.#flush();
    if (this.#isBlocked) {
      return false;
    }
    this.#settle();
    return true;
  }

  #ended(): void {
    this.#hasEnded = true;
    this.client.forget();
    this.#settings.register.delete(this);
    this.#settle();
  }

  #settle(): void {
    const waiting = this.#onFlushed;
    this.#onFlushed = [];
    for (const resolve of waiting) resolve();
  }
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
    statusLines.set(status, line);
  }
  return line;
}

/** The name in lower case if uWebSockets writes it as well, otherwise an empty string. */
function ownName(name: string): "content-length" | "date" | "" {
  if (name.length !== 4 && name.length !== 14) return "";
  const key = name.toLowerCase();
  return key === "content-length" || key === "date" ? key : "";
}
