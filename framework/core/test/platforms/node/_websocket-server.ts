/** A server of `serve` that records the messages of its WebSockets. @module */
import { connect } from "node:net";
import { served, type Served } from "./_http.js";
import { GOOD, handshake, socketApp } from "./_websocket.js";
import { OFFER, type Outcome, type PeerOptions, readFrames, toText } from "./_websocket-peers.js";

/** The messages of one connection, and the code and the reason of its end. */
interface Recording {
  readonly messages: string[];
  readonly end: (closed: string) => void;
}

/** Listens on a free port of loopback. */
export class RecordingServer implements AsyncDisposable {
  readonly #server: Served;
  /** By the port of the client. */
  readonly #recordings: Map<number, Recording>;

  /** The errors that the server has logged. */
  readonly errors: readonly object[];

  private constructor(server: Served, recordings: Map<number, Recording>, errors: readonly object[]) {
    this.#server = server;
    this.#recordings = recordings;
    this.errors = errors;
  }

  static async start(): Promise<RecordingServer> {
    const recordings = new Map<number, Recording>();
    const app = socketApp(async ({ client, path }, receive, send) => {
      const recording = recordings.get(client?.[1] ?? 0);
      await receive();
      await send({ type: "websocket.accept", max_message_bytes: Number(path.slice(1)) });
      for (;;) {
        const message = await receive();
        if (message.type === "websocket.receive") {
          recording?.messages.push(toText(message.text ?? message.bytes ?? ""));
        } else if (message.type === "websocket.disconnect") {
          recording?.end(`${message.code} ${message.reason}`);
          return;
        }
      }
    });
    const errors: object[] = [];
    const logger = { debug: ignore, info: ignore, warn: ignore, error: (fields: object) => void errors.push(fields) };
    return new RecordingServer(await served(app, { webSocketCompression: true, logger }), recordings, errors);
  }

  /** Sends packets of frames, the first one with the handshake, and ends the connection. */
  async outcome({ isCompressed, maxMessageBytes }: PeerOptions, packets: readonly Buffer[]): Promise<Outcome> {
    const socket = connect(this.#server.port, "127.0.0.1").setNoDelay();
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const { localPort = 0 } = socket;
    const messages: string[] = [];
    const closed = new Promise<string>((end) => this.#recordings.set(localPort, { messages, end }));
    const received: Buffer[] = [];
    socket.on("error", () => {}).on("data", (chunk: Buffer) => received.push(chunk));
    const ended = new Promise((resolve) => socket.once("close", resolve));
    const extensions = isCompressed ? `Sec-WebSocket-Extensions: ${OFFER}\r\n` : "";
    const [first = Buffer.alloc(0), ...others] = packets;
    socket.write(Buffer.concat([Buffer.from(handshake(GOOD + extensions, `/${maxMessageBytes}`)), first]));
    for (const packet of others) {
      await new Promise((resolve) => setImmediate(resolve));
      if (socket.writable) socket.write(packet);
    }
    socket.end();
    await ended;
    const told = await closed;
    this.#recordings.delete(localPort);
    const bytes = Buffer.concat(received);
    return { messages, closed: told, ...readFrames(bytes.subarray(bytes.indexOf("\r\n\r\n") + 4)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

function ignore(): void {}
