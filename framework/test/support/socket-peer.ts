/** The client's end of a WebSocket over TCP, with the interface of `TestWebSocket`. */
import type { IncomingMessage } from "node:http";
import { WebSocket as Client } from "ws";
import { MessageQueue } from "../../core/src/protocol/message-queue.js";

/** The end of a WebSocket, or of a handshake. */
export class Ended extends Error {
  readonly code: number;
  readonly reason: string;
  /** Of the response that rejected the handshake, `null` if it was completed. */
  readonly statusCode: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;

  constructor(code: number, reason: string, response?: IncomingMessage, body = "") {
    super(`ended with ${response?.statusCode ?? code}`);
    this.code = code;
    this.reason = reason;
    this.statusCode = response?.statusCode ?? null;
    this.headers = response?.headers ?? {};
    this.body = body;
  }
}

/** Gives the application's call for the client at this port. */
export type CallAt = (port: number) => Promise<void> | undefined;

/** One client. All messages are recorded from the start. */
export class SocketPeer {
  readonly closed: Promise<Ended>;
  subprotocol: string | null = null;
  headers: Readonly<Record<string, unknown>> = {};
  /** The port of its end, after the server has responded. */
  port = 0;
  readonly client: Client;
  readonly #inbox = new MessageQueue<string | Uint8Array>();
  readonly #opened: Promise<unknown>;
  readonly #callAt: CallAt;

  private constructor(client: Client, callAt: CallAt) {
    this.client = client;
    this.#callAt = callAt;
    client.on("error", () => {});
    client.on("message", (data: Buffer, isBinary) => this.#inbox.push(isBinary ? data : data.toString()));
    client.on("upgrade", (response) => {
      this.port = response.socket.localPort ?? 0;
      this.headers = response.headers;
    });
    this.#opened = new Promise<void>((resolve) => client.once("open", resolve));
    this.closed = new Promise((resolve) => {
      client.once("unexpected-response", (request, response) => {
        this.port = response.socket.localPort ?? 0;
        void response.toArray().then((parts) => {
          request.destroy();
          resolve(new Ended(1006, "", response, Buffer.concat(parts).toString()));
        });
      });
      client.once("close", (code, reason) => resolve(new Ended(code, reason.toString())));
    });
    void this.closed.then((how) => this.#inbox.fail(how));
  }

  /**
   * Connects, and waits until the handshake is complete.
   *
   * @throws Ended when it is refused, once the application has settled.
   */
  static async open(
    url: string,
    subprotocols: readonly string[],
    headers: Readonly<Record<string, string>>,
    callAt: CallAt,
  ): Promise<SocketPeer> {
    const peer = new SocketPeer(new Client(url, [...subprotocols], { headers }), callAt);
    const refused = await Promise.race([peer.#opened, peer.closed]);
    if (refused instanceof Ended) {
      await peer.settled();
      throw refused;
    }
    peer.subprotocol = peer.client.protocol || null;
    return peer;
  }

  sendText = async (text: string): Promise<void> => this.client.send(text);
  sendBytes = async (bytes: Uint8Array): Promise<void> => this.client.send(bytes);
  sendJson = async (value: unknown): Promise<void> => this.client.send(JSON.stringify(value));
  receive = (): Promise<string | Uint8Array> => this.#inbox.take();
  receiveText = async (): Promise<string> => String(await this.receive());
  receiveBytes = async (): Promise<Uint8Array> => (await this.receive()) as Uint8Array;
  receiveJson = async (): Promise<unknown> => JSON.parse(await this.receiveText());

  settled = async (): Promise<void> => this.#callAt(this.port);

  async close(code = 1000, reason = ""): Promise<void> {
    this.client.close(code, reason);
    await this.closed;
    await this.settled();
  }

  async terminate(): Promise<void> {
    this.client.terminate();
    await this.closed;
    await this.settled();
  }
}
