/** The server's WebSocket and that of `ws`, on sockets in memory, with a client that sends the same bytes. @module */
import { IncomingMessage } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { acceptOffer } from "../../../src/platforms/node/websocket/compression.js";
import { PingRound } from "../../../src/platforms/node/websocket/pings.js";
import { ServerWebSocket } from "../../../src/platforms/node/websocket/server-websocket.js";
import { MemorySocket } from "./_memory-socket.js";

/** The result of a client's bytes on a server. */
export interface Outcome {
  /** The messages that its application received, in order. */
  readonly messages: readonly string[];
  /** The code and the reason with which its application received the end. */
  readonly closed: string;
  /** The payloads of its pongs. */
  readonly pongs: readonly string[];
  /** The code and the reason of its close frame; `null` without one. */
  readonly sent: string | null;
}

/** The options of a server. */
export interface PeerOptions {
  readonly isCompressed: boolean;
  readonly maxMessageBytes: number;
}

/** Bytes of a client, a packet each. With `isGradual`, each packet is sent in a separate turn of the event loop. */
export interface Sending {
  readonly packets: readonly Buffer[];
  readonly isGradual: boolean;
  /** `true` if the client ends the connection after them; otherwise the server must. */
  readonly hasEnd: boolean;
}

/** A socket that is still open after so many milliseconds hangs. */
const HANG_MS = 60_000;
/** An offer of compression that all servers accept, without a context that is kept between messages. */
export const OFFER = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

async function send(socket: MemorySocket, { packets, isGradual, hasEnd }: Sending): Promise<void> {
  for (const packet of packets) {
    socket.push(Buffer.from(packet)); // the server changes it in place
    if (isGradual) await turn();
  }
  if (hasEnd) socket.push(null);
}

/** Waits for the end of a connection, and describes all that was received and sent on it. */
async function outcomeOf(
  socket: MemorySocket,
  received: readonly (string | Uint8Array)[],
  closed: Promise<string>,
): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The connection does not end.")), HANG_MS);
  });
  const end = await Promise.race([closed, hang]).finally(() => clearTimeout(timer));
  return { messages: received.map(toText), closed: end, ...readFrames(Buffer.from(socket.written, "latin1")) };
}

/** Describes a message. */
export function toText(data: string | Uint8Array): string {
  return typeof data === "string" ? `text ${data}` : `bytes ${Buffer.from(data).toString("hex")}`;
}

/** The frames that a server writes in response to control frames, which are short. */
export function readFrames(bytes: Buffer): Pick<Outcome, "pongs" | "sent"> {
  const pongs: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const [first, length] = [bytes[at], bytes[at + 1]] as [number, number];
    const payload = bytes.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    if (first === 0x8a) pongs.push(payload.toString("hex"));
    else if (first === 0x88 && at === bytes.length) return { pongs, sent: describeClose(payload) };
    else throw new Error(`Unexpected frame ${first} ${payload.toString("hex")}.`);
  }
  return { pongs, sent: null };
}

function describeClose(payload: Buffer): string {
  return payload.length === 0 ? "1005 " : `${payload.readUInt16BE(0)} ${payload.toString("utf8", 2)}`;
}

/** Sends to the WebSocket of `serve`. */
export function ours({ isCompressed, maxMessageBytes }: PeerOptions, sending: Sending): Promise<Outcome> {
  const socket = new MemorySocket();
  const received: (string | Uint8Array)[] = [];
  const closed = new Promise<string>((resolve) => {
    const events = {
      messaged: (data: string | Uint8Array) => void received.push(data),
      whenCaughtUp: (callBack: () => void) => callBack(),
      violated: () => {},
      closed: (code: number, reason: string) => resolve(`${code} ${reason}`),
    };
    const compression = isCompressed ? acceptOffer(OFFER) : null;
    const options = { maxMessageBytes, compression, pings: new PingRound(0) };
    void new ServerWebSocket({ socket, rest: Buffer.alloc(0) }, events, options);
  });
  void send(socket, sending);
  return outcomeOf(socket, received, closed);
}

const servers = new Map<string, WebSocketServer>();

function serverOf({ isCompressed, maxMessageBytes }: PeerOptions): WebSocketServer {
  const key = `${isCompressed} ${maxMessageBytes}`;
  const known = servers.get(key);
  if (known !== undefined) return known;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: isCompressed,
  });
  servers.set(key, server);
  return server;
}

const HANDSHAKE = {
  upgrade: "websocket",
  connection: "upgrade",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-extensions": OFFER,
};

/** Sends to a WebSocket of `ws`. */
export async function theirs(options: PeerOptions, sending: Sending): Promise<Outcome> {
  const socket = new MemorySocket();
  const request = new IncomingMessage(socket);
  request.method = "GET";
  Object.assign(request.headers, HANDSHAKE);
  const webSocket = await new Promise<WebSocket>((resolve) => {
    serverOf(options).handleUpgrade(request, socket, Buffer.alloc(0), resolve);
  });
  socket.written = "";
  const received: (string | Uint8Array)[] = [];
  webSocket.on("error", () => {});
  webSocket.on("message", (data: Buffer, isBinary) => received.push(isBinary ? data : data.toString()));
  const closed = new Promise<string>((resolve) => {
    webSocket.on("close", (code, reason) => resolve(`${code} ${reason.toString()}`));
  });
  void send(socket, sending);
  return outcomeOf(socket, received, closed);
}
