/** A server of `node:http` that refuses what its parser forgives, within limits and time-outs. @module */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { Connection } from "./connection.js";
import { readFirstLine } from "./first-line.js";
import { handleRequest } from "./handler.js";
import { closeIdle, withoutTimers } from "./keep-alive.js";
import { Refusal } from "./refusal.js";
import { ServerRequest } from "./server-request.js";
import type { Service } from "./service.js";
import { WebSocketGate, type WebSocketRules } from "./websocket-gate.js";
import { WholeResponse } from "./whole-response.js";

/** How long a server waits for its clients, in milliseconds; 0 waits for ever. */
export interface Timeouts {
  /** Until a request's head must be complete (408). Defaults to 20,000. */
  headersMs: number;
  /** Until a whole request must be complete, body included (408). Defaults to 300,000. */
  requestMs: number;
  /** For how long a connection without a request is kept. Defaults to 65,000. */
  keepAliveMs: number;
  /** Between two pings of a WebSocket; a client that has not answered one by the next is cut. Defaults to 20,000. */
  webSocketPingMs: number;
}

/** The longest time between two looks for requests that are late, in milliseconds. */
const MAX_CHECK_INTERVAL_MS = 1000;

const refusals = {
  malformed: new Refusal(400, "The request is malformed."),
  timeout: new Refusal(408),
  targetBytes: new Refusal(414),
  chunkExtensions: new Refusal(413, "The chunk extensions are too long."),
  headerBytes: new Refusal(431, "The header lines are too long."),
  transferEncoding: new Refusal(501, "Expected no Transfer-Encoding but chunked."),
  version: new Refusal(505, "Expected HTTP/1.0 or HTTP/1.1."),
  full: new Refusal(503, "The server has as many connections as it takes.", ["retry-after", "1"]),
  connect: new Refusal(405, undefined, ["allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE"]),
};

/** Connections in excess that may be told so at the same time; beyond that they are cut without a word. */
const MAX_REFUSED = 1000;

/** What a server is made with. */
export interface HTTPServerSettings {
  timeouts: Timeouts;
  /** How many connections are open at the same time; `Infinity` for no bound. */
  connections: number;
  tls: TlsOptions | undefined;
  webSockets: WebSocketRules;
}

/** Makes a server for the service. It does not listen yet. */
export function createHTTPServer(service: Service, settings: HTTPServerSettings): Server {
  const { tls } = settings;
  const { headersMs, requestMs, keepAliveMs } = settings.timeouts;
  const options = {
    // Both limits are checked on their own (request-head.ts); the parser's one covers target and header lines together.
    maxHeaderSize: service.limits.targetBytes + service.limits.headerBytes,
    headersTimeout: requestMs === 0 ? headersMs : Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs, // what clients are told; closeIdle keeps to it
    connectionsCheckingInterval: Math.min(
      MAX_CHECK_INTERVAL_MS,
      ...[headersMs, requestMs].filter((ms) => ms > 0).map((ms) => Math.ceil(ms / 4)),
    ),
    handshakeTimeout: headersMs === 0 ? undefined : headersMs,
    // From Node 24.9 on; before, the gate gives back what is no WebSocket.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket",
    IncomingMessage: ServerRequest,
    ServerResponse: WholeResponse,
    requireHostHeader: false, // checked in request-head.ts, where the answer has a body
  };
  const server = tls === undefined ? createServer(options) : createSecureServer({ ...tls, ...options });
  server.maxHeadersCount = 0; // node:http drops what is beyond without a word; request-head.ts counts and refuses
  server.on("request", (req, res) => handleRequest(service, req, res, false));
  server.on("checkContinue", (req, res) => handleRequest(service, req, res, true));
  server.on("checkExpectation", (req, res) => handleRequest(service, req, res, false)); // refused there
  server.on("connect", (_req, socket) => Connection.of(socket as Socket).refuseDetached(refusals.connect));
  server.on("clientError", onClientError);
  const parse = lookAtFirstLines(server, service, settings);
  closeIdle(server, service.connections, keepAliveMs, requestMs);
  const gate = new WebSocketGate(service, settings.webSockets, parse);
  server.on("upgrade", (req, _stream, firstBytes) => gate.upgrade(req, req.socket, firstBytes));
  return server;
}

/**
 * Puts the look at the first line between the listening socket and the parser of `node:http`, and the bound of
 * connections before both. Gives what hands a connection to that parser.
 */
function lookAtFirstLines(
  server: Server,
  service: Service,
  { connections, tls, timeouts }: HTTPServerSettings,
): (socket: Socket) => void {
  const event = tls === undefined ? "connection" : "secureConnection";
  const listeners = server.listeners(event) as ((socket: Socket) => void)[];
  const parse = (socket: Socket): void => {
    for (const listener of listeners) {
      listener.call(server, socket);
    }
  };
  let warned = false;
  let refused = 0;
  const refuse = (socket: Socket): void => {
    if (!warned) {
      service.logger.warn({ connections }, "More connections than allowed: the latest get 503.");
      warned = true;
    }
    if (refused >= MAX_REFUSED) {
      socket.destroy();
      return;
    }
    refused++;
    socket.once("close", () => refused--);
    refusals.full.write(socket);
  };
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) => {
    const address = server.address();
    const place = typeof address === "string" ? address : null;
    if (service.connections.size >= connections) {
      refuse(socket);
      return;
    }
    withoutTimers(socket);
    Connection.of(socket, place, service.connections);
    readFirstLine(socket, service.limits.targetBytes, timeouts.headersMs, parse);
  });
  return parse;
}

interface ClientError extends NodeJS.ErrnoException {
  /** The parser's sentence. */
  reason?: string;
  /** The bytes among which it stopped, and where. */
  rawPacket?: Buffer;
  bytesParsed?: number;
}

function onClientError(error: ClientError, stream: NodeJS.WritableStream): void {
  const socket = stream as Socket;
  if (error.code === "ECONNRESET" || error.code === "EPIPE" || !socket.writable) {
    socket.destroy();
    return;
  }
  Connection.of(socket).refuse(refusalOf(error));
}

const refusalsByCode: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: refusals.timeout,
  HPE_HEADER_OVERFLOW: refusals.headerBytes,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refusals.chunkExtensions,
  HPE_INVALID_TRANSFER_ENCODING: refusals.transferEncoding,
  HPE_PAUSED_H2_UPGRADE: refusals.version,
};

function refusalOf({ code = "", reason, rawPacket, bytesParsed }: ClientError): Refusal {
  if (code === "HPE_HEADER_OVERFLOW" && isRequestLine(rawPacket, bytesParsed)) {
    return refusals.targetBytes;
  }
  if (reason === "Invalid HTTP version") {
    return refusals.version;
  }
  if (code === "HPE_INVALID_TRANSFER_ENCODING" && reason?.includes("Content-Length")) {
    return refusals.malformed;
  }
  return refusalsByCode[code] ?? refusals.malformed;
}

/** Whether the parser stopped in the request line: the target was too long, not the header lines. */
function isRequestLine(packet: Buffer | undefined, bytesParsed: number | undefined): boolean {
  return packet !== undefined && /^[\r\n]*[A-Z-]+ [^\n]*$/.test(packet.toString("latin1", 0, bytesParsed));
}
