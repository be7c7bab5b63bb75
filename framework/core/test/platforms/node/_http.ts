/** Helpers of the server's tests: applications written by hand, raw sockets, a logger that remembers. */
import { connect, type Socket } from "node:net";
import type { ASGIApp, HTTPScope, Receive, Send } from "../../../src/protocol/asgi.js";
import type { Logger } from "../../../src/common/logger.js";
import { serve, type RunningServer, type ServeOptions } from "../../../src/node.js";

export type HTTPApp = (scope: HTTPScope, receive: Receive, send: Send) => Promise<void>;

/** An application that responds to HTTP and has no lifespan. */
export function httpApp(app: HTTPApp): ASGIApp {
  return async (scope, receive, send) => {
    if (scope.type === "http") {
      await app(scope, receive, send);
    }
  };
}

/** Sends a whole response with a text. */
export async function respond(send: Send, status: number, text: string, headers: [string, string][] = []) {
  await send({ type: "http.response.start", status, headers: headers.map(([name, value]) => pair(name, value)) });
  await send({ type: "http.response.body", body: Buffer.from(text) });
}

export function pair(name: string, value: string): [Uint8Array, Uint8Array] {
  return [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")];
}

/** Reads the whole body of a request. */
export async function readBody(receive: Receive): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const message = await receive();
    if (message.type !== "http.request") {
      throw new Error(`disconnected after ${Buffer.concat(chunks).length} bytes`);
    }
    chunks.push(message.body ?? new Uint8Array(0));
    if (message.more_body !== true) {
      return Buffer.concat(chunks);
    }
  }
}

export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  fields: Record<string, unknown>;
  message: string;
}

export class MemoryLogger implements Logger {
  readonly lines: LogLine[] = [];
  debug = (fields: object, message: string) => this.#add("debug", fields, message);
  info = (fields: object, message: string) => this.#add("info", fields, message);
  warn = (fields: object, message: string) => this.#add("warn", fields, message);
  error = (fields: object, message: string) => this.#add("error", fields, message);

  at(level: LogLine["level"]): LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }

  #add(level: LogLine["level"], fields: object, message: string): void {
    this.lines.push({ level, fields: { ...fields }, message });
  }
}

export interface Served extends RunningServer, AsyncDisposable {
  port: number;
  logger: MemoryLogger;
}

/** Serves on a free port, without signals, and closes at the end of the `await using` scope. */
export async function served(app: ASGIApp, options: ServeOptions = {}): Promise<Served> {
  const logger = new MemoryLogger();
  const server = await serve(app, { port: 0, signals: false, logger, ...options });
  return {
    url: server.url,
    loop: server.loop,
    close: () => server.close(),
    port: server.url.startsWith("unix:") ? 0 : Number(new URL(server.url).port),
    logger,
    [Symbol.asyncDispose]: () => server.close().catch(() => {}),
  };
}

/** A raw connection whose bytes are read as latin-1 text. */
export class Wire implements AsyncDisposable {
  readonly socket: Socket;
  received = "";
  readonly closed: Promise<string>;
  #wake: () => void = () => {};

  /** @param target - A port of loopback, or a socket that was opened elsewhere. */
  constructor(target: number | Socket) {
    this.socket = typeof target === "number" ? connect(target, "127.0.0.1") : target;
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.once("close", () => {
        resolve(this.received);
        this.#wake();
      });
    });
  }

  write(text: string): this {
    this.socket.write(text, "latin1");
    return this;
  }

  /** Waits until the received text matches; fails if the connection closes before that. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.closed) {
        throw new Error(`closed before ${String(pattern)}: ${JSON.stringify(this.received)}`);
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}

/**
 * Sends a request after which the server ends its side, continues to send, and returns the code of the error after the
 * server has closed the socket.
 */
export async function cutOff(port: number, text: string): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.once("error", resolve));
  socket.write(text, "latin1");
  socket.resume();
  await new Promise((resolve) => socket.once("end", resolve));
  const timer = setInterval(() => socket.write("x"), 20);
  const { code } = await failed;
  clearInterval(timer);
  return code;
}

/** Connects until that is refused. */
export async function refusesConnections(port: number): Promise<void> {
  for (let refused = false; !refused;) {
    await using wire = new Wire(port);
    refused = await new Promise((resolve) => {
      wire.socket.once("connect", () => resolve(false)).once("error", () => resolve(true));
    });
  }
}
