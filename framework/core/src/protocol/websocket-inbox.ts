/** Messages that the application has not taken. @module */
import type { ReceiveMessage } from "./asgi.js";
import { MessageQueue } from "./message-queue.js";
import { markHandled } from "../common/promises.js";
import { ProtocolError } from "../common/exceptions.js";

/** Up to these bytes and messages the client's messages wait in memory; beyond that the client waits. */
const MAX_QUEUED_BYTES = 65_536;
const MAX_QUEUED_MESSAGES = 16;

/** A WebSocket from which messages come. */
interface MessageSource {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
}

/** The messages for one application. */
export class WebSocketInbox {
  readonly #queue = new MessageQueue<ReceiveMessage>();
  #queuedBytes = 0;
  #source: MessageSource | null = null;
  /** `true` from a message until the application, which has handled it, asks for the next. */
  #isBehind = false;
  #onCaughtUp: (() => void) | null = null;
  #onEnd: (() => void) | null = null;

  constructor() {
    this.#queue.push({ type: "websocket.connect" });
  }

  /** Says where messages come from, so that it can be made to wait. */
  attach(source: MessageSource): void {
    this.#source = source;
  }

  /** `true` after the last message. */
  get ended(): boolean {
    return this.#queue.hasEnded;
  }

  /** The next message: first the received ones, then the end, repeatedly. */
  receive(): Promise<ReceiveMessage> {
    if (this.#queue.isAwaited) {
      return markHandled(
        Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits.")),
      );
    }
    const message = this.#queue.shift();
    if (message === undefined) return this.#takeNext();
    this.#queuedBytes -= sizeOf(message);
    if (this.#source?.isPaused && this.#queue.length === 0) this.#source.resume();
    return Promise.resolve(message);
  }

  #takeNext(): Promise<ReceiveMessage> {
    const next = this.#queue.take();
    this.#isBehind = false;
    this.#onCaughtUp?.();
    this.#onCaughtUp = null;
    return next;
  }

  /** Calls back once the application has taken every message and asks for the next. */
  whenCaughtUp(callBack: () => void): void {
    if (this.#isBehind) this.#onCaughtUp = callBack;
    else callBack();
  }

  put(message: ReceiveMessage): void {
    if (this.ended) return;
    this.#isBehind = true;
    if (!this.#queue.isAwaited) this.#queuedBytes += sizeOf(message);
    this.#queue.push(message);
    if (this.#queue.length >= MAX_QUEUED_MESSAGES || this.#queuedBytes >= MAX_QUEUED_BYTES) this.#source?.pause();
  }

  /** Calls back once the connection has ended, whether or not the application has taken every message. */
  whenEnded(callBack: () => void): void {
    if (this.ended) callBack();
    else this.#onEnd = callBack;
  }

  /** The client has disconnected, or this side closes. The first time counts. */
  end(code: number, reason: string): void {
    this.#queue.end({ type: "websocket.disconnect", code, reason });
    this.#onEnd?.();
    this.#onEnd = null;
  }
}

function sizeOf(message: ReceiveMessage): number {
  return message.type === "websocket.receive" ? (message.text?.length ?? message.bytes?.length ?? 0) : 0;
}
