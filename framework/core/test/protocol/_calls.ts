/** Messages of applications, and what applications do with them. @module */
import type {
  HeaderPair,
  HTTPResponseBodyMessage,
  HTTPResponseStartMessage,
  HTTPScope,
  LifespanScope,
  Receive,
  ReceiveMessage,
  Scope,
  Send,
  SendMessage,
  WebSocketScope,
} from "../../src/protocol/asgi.js";
import type { TextHeaders } from "@tsgi/conformance";

/** One call of an application. */
export interface Call<CallScope extends Scope> {
  readonly scope: CallScope;
  readonly receive: Receive;
  readonly send: Send;
}

export type HTTPCall = Call<HTTPScope>;
export type WebSocketCall = Call<WebSocketScope>;
export type LifespanCall = Call<LifespanScope>;

/** Latin-1. */
export function bytes(content: string): Uint8Array {
  return new Uint8Array(Buffer.from(content, "latin1"));
}

/** Bytes as Latin-1 text. */
export function text(value: unknown): string {
  if (!ArrayBuffer.isView(value)) throw new TypeError(`Expected bytes, not ${typeof value}.`);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
}

export function toPairs(headers: TextHeaders): HeaderPair[] {
  return headers.map(([name, value]) => [bytes(name), bytes(value)]);
}

export function toText(headers: Iterable<HeaderPair> | undefined): [name: string, value: string][] {
  return Array.from(headers ?? [], ([name, value]) => [text(name), text(value)]);
}

/** The head of a response. */
export function start(status: number, headers: TextHeaders = []): HTTPResponseStartMessage {
  return { type: "http.response.start", status, headers: toPairs(headers) };
}

/** The last part of a body. */
export function body(content = ""): HTTPResponseBodyMessage {
  return { type: "http.response.body", body: bytes(content) };
}

/** A part of a body that others follow. */
export function part(content = ""): HTTPResponseBodyMessage {
  return { type: "http.response.body", body: bytes(content), more_body: true };
}

/** Also sends messages that an application must not send. */
export async function sendAny(send: Send, message: object): Promise<void> {
  await send(message as SendMessage);
}

/** Returns the name of the error of a call; `null` if it succeeds. */
export async function errorOf(act: () => unknown): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

/** Sends messages one at a time, ignoring their errors. Returns the name of the error of each, or `null`. */
export async function sendEach(send: Send, messages: readonly object[]): Promise<(string | null)[]> {
  const errors: (string | null)[] = [];
  for (const message of messages) errors.push(await errorOf(() => sendAny(send, message)));
  return errors;
}

/** A message of the server, its bytes as text. */
export async function received(receive: Receive): Promise<Record<string, unknown>> {
  const message: ReceiveMessage = await receive();
  const entries = Object.entries(message).map(([key, value]: [string, unknown]) => {
    return [key, ArrayBuffer.isView(value) ? text(value) : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** The body of a request as it arrives: its chunks that are not empty, and the type of the last message. */
export async function readBody(receive: Receive): Promise<{ parts: string[]; last: string }> {
  const parts: string[] = [];
  for (;;) {
    const message = await receive();
    if (message.type !== "http.request") return { parts, last: message.type };
    const content = text(message.body ?? bytes(""));
    if (content !== "") parts.push(content);
    if (message.more_body !== true) return { parts, last: message.type };
  }
}

/** Parts of a body that a client sends. */
export async function* partsOf(...parts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const content of parts) yield bytes(content);
}
