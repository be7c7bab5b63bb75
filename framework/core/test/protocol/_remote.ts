/** The drivers of other runtimes, whose applications run in this process and are called over WebSockets. @module */
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import type { ASGIApp, Receive, ReceiveMessage, Scope, Send } from "../../src/protocol/asgi.js";
import type { Logger } from "../../src/common/logger.js";
import { Deferred } from "../../src/common/promises.js";
import { binaryOf, Program } from "../../../test/runtimes/_program.js";
import { startWorker } from "../../../test/runtimes/_workerd.js";
import { type Driver, type DriverName, type Endpoint, Lost, type Settings } from "./_driver.js";
import { HTTP1Client } from "./_http1-client.js";

const PROGRAM: string = "./remote-app.mjs"; // not a literal, as JavaScript has no types here
const { decode, encode } = (await import(PROGRAM)) as {
  decode: (text: string) => unknown;
  encode: (value: unknown) => string;
};

/** A message of the other process: the scope, or the result of an instruction. */
interface Reply {
  readonly scope?: Scope;
  readonly id?: number;
  readonly value?: ReceiveMessage;
  readonly error?: unknown;
}

/** One call of an application, whose `receive` and `send` are in the other process. */
class RemoteCall {
  readonly #socket: WebSocket;
  readonly #app: ASGIApp;
  readonly #waiting = new Map<number, Deferred<ReceiveMessage | undefined>>();
  #orders = 0;

  constructor(socket: WebSocket, app: ASGIApp) {
    this.#socket = socket;
    this.#app = app;
    socket.on("message", (data: Buffer) => this.#take(decode(data.toString()) as Reply));
    socket.on("close", () => {
      for (const each of this.#waiting.values()) each.reject(new Error("The other process has ended the call."));
    });
  }

  #take({ scope, id = 0, value, ...rest }: Reply): void {
    if (scope !== undefined) return void this.#run(scope);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if ("error" in rest) waiting?.reject(rest.error);
    else waiting?.resolve(value);
  }

  async #run(scope: Scope): Promise<void> {
    const receive: Receive = () => this.#order("receive") as Promise<ReceiveMessage>;
    const send: Send = async (message) => void (await this.#order("send", message));
    try {
      await this.#app(scope, receive, send);
      this.#say({ order: "return" });
    } catch (value) {
      this.#say({ order: "throw", value });
    }
  }

  #order(order: "receive" | "send", value?: unknown): Promise<ReceiveMessage | undefined> {
    const id = ++this.#orders;
    const waiting = new Deferred<ReceiveMessage | undefined>();
    this.#waiting.set(id, waiting);
    this.#say({ id, order, value });
    return waiting.promise;
  }

  #say(message: object): void {
    this.#socket.send(encode(message));
  }
}

/** The applications of this process, each under a key. */
class Hub {
  readonly #server: Server = createServer();
  readonly #sockets = new WebSocketServer({ server: this.#server });
  readonly #apps = new Map<string, ASGIApp>();
  url = "";

  async open(): Promise<void> {
    this.#sockets.on("connection", (socket, { url = "" }) => {
      const app = this.#apps.get(url.slice(1));
      if (app === undefined) socket.close();
      else void new RemoteCall(socket, app);
    });
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  set(key: string, app: ASGIApp): void {
    this.#apps.set(key, app);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

/** The state of the log in the other process. */
interface Log {
  readonly running: number;
  readonly lines: readonly { readonly level: keyof Logger; readonly message: string; readonly err?: string }[];
}

/** Takes over the log, after every call of the other process has settled. */
async function syncLog(logger: Logger, ask: () => Promise<Log>): Promise<void> {
  let log = await ask();
  while (log.running > 0) log = await ask();
  for (const { level, message, ...fields } of log.lines) logger[level](fields, message);
}

/** A runtime whose program starts a server for each statement. */
function onRuntime(name: DriverName, runtime: "bun" | "deno", kind: "serve" | "fetch", lacks: Driver["lacks"]): Driver {
  const hub = new Hub();
  let program: Program;
  let count = 0;
  const ask = async <Answer>(command: string, rest: object = {}): Promise<Answer> => {
    const body = JSON.stringify({ command, ...rest });
    try {
      return (await (await fetch(program.url, { method: "POST", body })).json()) as Answer;
    } catch (error) {
      throw new Lost(error); // the statement has ended the process
    }
  };
  const run = async (): Promise<void> => {
    const command = [binaryOf(runtime), ...(runtime === "deno" ? ["run", "--allow-all", "--no-prompt"] : [])];
    program = await Program.run([runtime, command], "remote-server.mjs", async (folder) => {
      for (const file of ["remote-app.mjs", "remote-server.mjs"]) {
        await cp(path.join(import.meta.dirname, file), path.join(folder, file));
      }
      return path.join(folder, "remote-server.mjs");
    });
  };
  return {
    name,
    base: kind === "serve" ? "HTTP/1.1" : "fetch",
    httpVersion: "1.1",
    lacks,
    turn: async () => void (await (await fetch(program.url, { method: "POST", body: '{"command":"turn"}' })).text()),
    async open() {
      await hub.open();
      await run();
    },
    async start(app: ASGIApp, { logger }: Settings): Promise<Endpoint> {
      const key = `server-${++count}`;
      hub.set(key, app);
      const begin = () => ask<{ url: string }>("start", { key, kind, hub: hub.url });
      const { url } = await begin().catch(async () => {
        await program.ended; // by the statement before
        await program[Symbol.asyncDispose]();
        await run();
        return begin();
      });
      const { request, websocket, cut } = new HTTP1Client(url);
      return {
        request,
        websocket,
        cut,
        stop: () => ask("stop", { key }),
        syncLog: () => syncLog(logger, () => ask("log", { key })),
      };
    },
    async close() {
      await program[Symbol.asyncDispose]();
      await hub.close();
    },
  };
}

const inProcess = { reason: "its applications are called over WebSockets" };
const remote = { "in process": inProcess };
const byFetch = {
  ...remote,
  websocket: { reason: "its fetch opens no WebSocket with a pair of sockets" },
  lifespan: { reason: "its server takes requests after the handler has closed" },
};

/** workerd, whose one worker serves the application of the last statement. */
function onWorkerd(): Driver {
  const hub = new Hub();
  let program: Program;
  return {
    name: "workerd",
    base: "fetch",
    httpVersion: "1.1",
    turn: async () => void (await (await fetch(`${program.url}/.control`)).text()),
    lacks: {
      ...remote,
      drain: { reason: "a worker is not told that it stops" },
      lifespan: { reason: "a worker has one lifespan" },
    },
    async open() {
      await hub.open();
      const files = ["remote-app.mjs", "remote-worker.mjs"].map((file) => path.join(import.meta.dirname, file));
      program = await startWorker("remote-worker.mjs", { files, bindings: { HUB: `${hub.url}/worker` } });
    },
    async start(app: ASGIApp, { logger }: Settings): Promise<Endpoint> {
      hub.set("worker", app);
      const { request, websocket, cut } = new HTTP1Client(program.url);
      const ask = async (): Promise<Log> => (await (await fetch(`${program.url}/.control`)).json()) as Log;
      await syncLog({ debug() {}, info() {}, warn() {}, error() {} }, ask); // of the statement before
      return { request, websocket, cut, stop: async () => {}, syncLog: () => syncLog(logger, ask) };
    },
    async close() {
      await program[Symbol.asyncDispose]();
      await hub.close();
    },
  };
}

/** The drivers of other runtimes. */
export const remoteDrivers: readonly Driver[] = [
  onRuntime("Bun", "bun", "serve", remote),
  onRuntime("Bun fetch", "bun", "fetch", byFetch),
  onRuntime("Deno", "deno", "serve", remote),
  onRuntime("Deno fetch", "deno", "fetch", byFetch),
  onWorkerd(),
];
