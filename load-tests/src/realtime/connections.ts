/** Connections of the client. @module */
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { EventReader } from "./event-reader.js";
import { FrameReader } from "./messages.js";

/** Handshakes at the same time: below the backlog of every server. */
const AT_ONCE = 50;

/** Opens connections, some at the same time. */
export async function openMany<Connection>(
  count: number,
  open: () => Promise<Connection>,
): Promise<readonly Connection[]> {
  const connections: Connection[] = [];
  while (connections.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - connections.length) }, open);
    connections.push(...(await Promise.all(batch)));
  }
  return connections;
}

/** A connection whose items are read with a handler. The first item that is wrong, and its end, are told as a fault. */
export class Incoming<Item> {
  /** Called with each item. What it throws is told to `fail`. */
  handle: (item: Item) => void = () => {};
  /** Called once at most. */
  fail: (error: Error) => void = () => {};

  constructor(
    readonly socket: Socket,
    reader: { read(chunk: Buffer): Item[] },
    head: Buffer = Buffer.alloc(0),
  ) {
    socket.setNoDelay(true);
    // Before "data" has a listener: a flowing socket would emit it at once, before `handle` is set.
    if (head.length > 0) socket.unshift(head);
    const read = (chunk: Buffer): void => {
      try {
        for (const item of reader.read(chunk)) this.handle(item);
      } catch (error) {
        this.#end(error instanceof Error ? error : new Error(String(error)));
      }
    };
    socket.on("data", read);
    socket.on("error", () => {}); // "close" follows
    socket.once("close", () => this.#end(new Error("the server closed a connection")));
  }

  close(): void {
    this.fail = () => {};
    this.socket.destroy();
  }

  #end(error: Error): void {
    this.fail(error);
    this.close();
  }
}

/** Completes the handshake on a connection of its own. */
export async function openWebSocket(url: string, path: string): Promise<Incoming<Buffer>> {
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const handshake = request(new URL(path, url), { agent: false, headers: upgrade }).end();
  // The event of a client's request has the arguments that Node documents.
  const [, socket, head] = (await once(handshake, "upgrade")) as [unknown, Socket, Buffer];
  return new Incoming(socket, new FrameReader(), head);
}

/** Opens a stream of events. */
export async function openEvents(url: string): Promise<Incoming<string>> {
  const socket = await connectTo(url);
  const stream = new Incoming(socket, new EventReader());
  socket.write("GET /events HTTP/1.1\r\nhost: bench\r\naccept: text/event-stream\r\n\r\n");
  return stream;
}

/** Opens a connection, sends one request, and keeps it open behind its answer. */
export async function openKeepAlive(url: string): Promise<Incoming<string>> {
  const socket = await connectTo(url);
  const connection = new Incoming(socket, { read: (chunk) => [chunk.toString("latin1")] });
  const answer = new Promise<void>((resolve, reject) => {
    let text = "";
    connection.fail = reject;
    connection.handle = (part) => {
      text += part;
      if (text.endsWith('{"status":"ok"}')) resolve();
    };
  });
  socket.write("GET /health HTTP/1.1\r\nhost: bench\r\n\r\n");
  await answer;
  return connection;
}

async function connectTo(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

/** Runs until all have called `done`, or one has failed. */
export function untilAll<Item>(
  connections: readonly Incoming<Item>[],
  begin: (connection: Incoming<Item>, done: () => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let open = connections.length;
    for (const connection of connections) {
      connection.fail = reject;
      begin(connection, () => --open === 0 && resolve());
    }
  });
}
