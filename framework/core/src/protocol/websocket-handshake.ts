/** The interface between a WebSocket session and the drivers: the handshake, the open socket, and its events. @module */
import type { HeaderPair } from "./asgi.js";
import { rawHeaders } from "./header-list.js";
import type { ErrorResponse } from "./error-response.js";
import type { Exchange } from "./exchange.js";
import { checkHeader } from "./response.js";

/** RFC 6455 §7.4.1 and its registry. */
export const CLOSE = {
  normal: 1000,
  protocolError: 1002,
  noStatus: 1005,
  abnormal: 1006,
  invalidText: 1007,
  policyViolation: 1008,
  tooBig: 1009,
  error: 1011,
  restart: 1012,
} as const;

/** The most bytes of one message, where neither the server nor the application says otherwise. */
export const DEFAULT_MESSAGE_BYTES = 1 << 20;

/** A completed handshake: the application has accepted, or closed with an application code. */
export interface Acceptance {
  /**
   * True if the application has closed instead, with a code from 4000 on, which a browser sees only after a completed
   * handshake: `close` follows at once.
   */
  readonly isRefusal: boolean;
  readonly subprotocol: string | null;
  /** `[name, value, …]`, checked, without the headers of the handshake itself. */
  readonly headers: readonly string[];
  /** The most bytes of one message that the application wants; `null` if it does not say. */
  readonly maxMessageBytes: number | null;
}

/** The way in which the application has refused, for a client in memory. */
export interface Refusal {
  /** The close code and the reason, if the application closed. */
  readonly code?: number;
  readonly reason?: string;
  /** The error, if the application threw. */
  readonly cause?: unknown;
}

/** A handshake that the application has not responded to. Exactly one of its methods is called, once. */
export interface PendingHandshake {
  /**
   * Completes it. The first event is fired later.
   *
   * @returns `null` if the client has disconnected.
   */
  open(acceptance: Acceptance, events: WebSocketEvents): OpenWebSocket | null;
  /** Responds in the application's place. */
  refuse(error: ErrorResponse, refusal: Refusal): void;
  /** Writes the application's own response. */
  respond(): Exchange;
}

/** A WebSocket after its handshake. */
export interface OpenWebSocket {
  readonly isPaused: boolean;
  /** Bytes that wait for the socket. */
  readonly bufferedAmount: number;
  pause(): void;
  resume(): void;
  /** Sends a message. `done` is called once the system has it, or it cannot be sent. */
  write(data: string | Uint8Array, done: ((error?: Error | null) => void) | null): void;
  /**
   * Sends a close frame, and waits for the close frame of the client. Without a code the frame is empty.
   *
   * @param cause - The error of the application, for a client in memory.
   */
  close(code?: number, reason?: string, cause?: unknown): void;
}

/** Accepts the events of an open WebSocket. */
export interface WebSocketEvents {
  messaged(data: string | Uint8Array): void;
  /** Calls back once the application has taken every message and asks for the next. */
  whenCaughtUp(callBack: () => void): void;
  /** The connection breaks a rule, and is about to end for it with a close code. */
  violated(code: number): void;
  /** The connection has ended, with the close code and the reason of the client. */
  closed(code: number, reason: string): void;
}

/** The headers of the handshake itself, which the application cannot set. */
const HANDSHAKES_OWN = /^(?:connection|upgrade|content-length|transfer-encoding|sec-websocket-.*)$/i;

/** The headers that an application accepts with. @throws ProtocolError if one is not allowed in HTTP. */
export function acceptedHeaders(headers: Iterable<HeaderPair> | undefined): readonly string[] {
  const accepted: string[] = [];
  const raw = rawHeaders(headers);
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? "";
    const value = raw[index + 1] ?? "";
    checkHeader(name, value);
    if (!HANDSHAKES_OWN.test(name)) accepted.push(name, value);
  }
  return accepted;
}
