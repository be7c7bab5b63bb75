/** The server around a listener: it never listens on a port, and gets connections in memory. @module */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Server as TLSServer } from "node:https";
import type { Duplex } from "node:stream";
import type { Receive, Send } from "../../../protocol/asgi.js";
import type { MemorySocket } from "./memory-socket.js";

/** Bytes of a head: more than any server of the App accepts. */
export const MAX_HEAD_BYTES = 1 << 20;

/** The paths of a request, in the words of Express. */
export interface MountedPaths {
  readonly originalUrl: string;
  readonly baseUrl: string;
}

/** A request on one connection. */
interface InnerCall {
  readonly paths: MountedPaths;
  /** The listener has thrown. @param hasBegun - `true` if it has written the head of its response before. */
  fail(error: unknown, hasBegun: boolean): void;
}

/** The messages of the call that the listener serves. */
export interface Channel {
  readonly receive: Receive;
  readonly send: Send;
}

/** A listener of `node:http`, or a server whose listeners are called. */
export type NodeListener = RequestListener | Server | TLSServer;

export class InnerServer {
  readonly #listener: NodeListener;
  readonly #server: Server;
  readonly #calls = new WeakMap<object, InnerCall>();

  constructor(listener: NodeListener) {
    this.#listener = listener;
    const options = { maxHeaderSize: MAX_HEAD_BYTES, requireHostHeader: false, keepAliveTimeout: 0 };
    this.#server = createServer(options, (req, res) => this.#call("request", req, res));
    this.#server.maxHeadersCount = 0;
    // The server of the App has its own.
    this.#server.timeout = this.#server.headersTimeout = this.#server.requestTimeout = 0;
    if (typeof listener !== "function") this.#forward(listener);
  }

  /** Events that a server without their listeners handles itself. */
  #forward(given: Server | TLSServer): void {
    for (const event of ["checkContinue", "checkExpectation"] as const) {
      if (given.listenerCount(event) === 0) continue;
      this.#server.on(event, (req: IncomingMessage, res: ServerResponse) => this.#call(event, req, res));
    }
    this.#server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#prepare(req);
      for (const listener of given.listeners("upgrade")) Reflect.apply(listener, given, [req, socket, head]);
    });
  }

  get hasUpgrades(): boolean {
    return typeof this.#listener !== "function" && this.#listener.listenerCount("upgrade") > 0;
  }

  /** Serves one connection. */
  connect(socket: MemorySocket, call: InnerCall): void {
    this.#calls.set(socket, call);
    this.#server.emit("connection", socket);
  }

  #prepare(req: IncomingMessage): InnerCall | undefined {
    const call = this.#calls.get(req.socket);
    this.#calls.delete(req.socket);
    if (call !== undefined) Object.assign(req, call.paths);
    return call;
  }

  #call(event: "request" | "checkContinue" | "checkExpectation", req: IncomingMessage, res: ServerResponse): void {
    const call = this.#prepare(req);
    if (call === undefined) {
      req.socket.destroy(); // a connection has one request
      return;
    }
    const listener = this.#listener;
    try {
      if (typeof listener === "function") listener(req, res);
      else for (const each of listener.listeners(event)) Reflect.apply(each, listener, [req, res]);
    } catch (error) {
      call.fail(error, res.headersSent);
    }
  }
}
