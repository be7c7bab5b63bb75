/** WebSockets, whose messages are JSON. @module */
import { assertPathValues, type PathValues } from "./path.js";

/** A constructor of WebSockets, from the platform or from the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => PlatformSocket;

/** The parts of a WebSocket that are used here. */
export interface PlatformSocket {
  binaryType: string;
  addEventListener(type: string, listener: (event: object) => void): void;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

/**
 * A WebSocket of a route. Iteration yields the messages in their order. It ends when the socket closes with 1000, 1001
 * or no code; after any other close it throws. Leaving the loop does not close the socket.
 */
export interface ClientSocket<Sent, Received> extends AsyncIterable<Received> {
  /** Sends a value as JSON. Until the socket is open, values wait. */
  send(value: Sent): void;
  /** Closes the socket, by default without a code. */
  close(code?: number, reason?: string): void;
}

type Scalar = string | number | boolean | null | undefined;

/** The parts of a call's argument that are used here. */
export interface SocketParts {
  readonly params?: {
    readonly path?: PathValues;
    readonly query?: Readonly<Record<string, Scalar | Scalar[]>>;
  };
  readonly protocols?: string[];
}

/** RFC 6455 §7.4.1: done, going away, and no code at all. */
const ORDINARY = new Set([1000, 1001, 1005]);

/**
 * The address of a socket: the pattern with its values, a list separated by commas, and the query, a list as a key for
 * each item.
 */
function addressOf(
  baseUrl: string,
  path: string,
  { path: values = {}, query = {} }: SocketParts["params"] & {},
): string {
  assertPathValues(path, values);
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) =>
    [values[name]]
      .flat()
      .map((one) => encodeURIComponent(String(one)))
      .join(),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one));
  }
  const base = baseUrl === "" ? (globalThis as { location?: { href: string } }).location?.href : undefined;
  const url = new URL(baseUrl.replace(/\/$/, "") + filled, base);
  url.protocol = url.protocol.replace("http", "ws");
  url.search = search.toString();
  return url.href;
}

/** The value of a message: text that is not JSON as it is, and binary data as bytes. */
function valueOf(data: unknown): unknown {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  try {
    return JSON.parse(String(data)) as unknown;
  } catch {
    return data;
  }
}

/** @throws TypeError without a constructor, and for a value that the path cannot have. */
export function openSocket(
  Socket: WebSocketConstructor | undefined,
  baseUrl: string,
  path: string,
  { params = {}, protocols }: SocketParts,
): ClientSocket<unknown, unknown> {
  if (Socket === undefined) {
    throw new TypeError("This platform has no WebSocket: pass the one of undici or ws to createClient({ WebSocket })");
  }
  const socket = new Socket(addressOf(baseUrl, path, params), protocols);
  socket.binaryType = "arraybuffer";
  const messages: unknown[] = [];
  let waiting: string[] | null = [];
  let closed: { code?: number; reason?: string } | null = null;
  let wake = (): void => {};
  socket.addEventListener("open", () => {
    for (const text of waiting ?? []) socket.send(text);
    waiting = null;
  });
  socket.addEventListener("message", (event: { data?: unknown }) => {
    messages.push(valueOf(event.data));
    wake();
  });
  // A failure is followed by `close` with 1006; without a listener, the package `ws` throws it.
  socket.addEventListener("error", () => {});
  socket.addEventListener("close", (event: { code?: number; reason?: string }) => {
    closed = event;
    wake();
  });
  return {
    send(value) {
      const text = JSON.stringify(value);
      if (waiting === null) socket.send(text);
      else waiting.push(text);
    },
    close: (code, reason) => socket.close(code, reason),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (messages.length > 0) yield messages.shift();
        if (closed !== null) break;
        await new Promise<void>((resolve) => void (wake = resolve));
      }
      const { code = 1006, reason } = closed;
      if (!ORDINARY.has(code)) throw new Error(`The WebSocket closed with ${code}${reason ? `: ${reason}` : ""}`);
    },
  };
}
