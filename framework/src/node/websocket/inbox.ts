/** Messages that the application has not taken. @module */
import type { ReceiveMessage } from "../../asgi.js";
import { MessageQueue } from "../../message-queue.js";
import { markHandled } from "../../promises.js";
import { ProtocolError } from "../errors.js";
import { CLOSE } from "./messages.js";

/** Up to these bytes and messages the client's messages wait in memory; beyond that the client waits. */
const MAX_QUEUED_BYTES = 65_536;
const MAX_QUEUED_MESSAGES = 16;

/**
 * Bytes that were read already are delivered all the same. Compressed it can be a thousand times as long: 64 KiB of it held 60 MiB. A
 * client behind which more than this has come since it was to wait is cut.
 */
const MAX_EXCESS_BYTES = 4 << 20;

/** A WebSocket from which messages come. */
interface MessageSource {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
}

/** The messages for one application. */
export class WebSocketInbox {
  readonly #queue = new MessageQueue<ReceiveMessage>();
  #queuedBytes = 0;
  /** Bytes that have come since the client was to wait. */
  #excessBytes = 0;
  #source: MessageSource | null = null;

  constructor() {
    this.#queue.push({ type: "websocket.connect" });
  }

  /** Says where messages come from, so that it can be made to wait. */
  attach(source: MessageSource): void {
    this.#source = source;
  }

  /** `true` once nothing more comes. */
  get ended(): boolean {
    return this.#queue.hasEnded;
  }

  /** The next message: those that came first, then how it ended, as often as it is asked for. */
  receive(): Promise<ReceiveMessage> {
    if (this.#queue.isAwaited) {
      return markHandled(
        Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits.")),
      );
    }
    const message = this.#queue.shift();
    if (message === undefined) return this.#queue.take();
    this.#queuedBytes -= sizeOf(message);
    if (this.#source?.isPaused && this.#queue.length === 0) {
      this.#excessBytes = 0;
      this.#source.resume();
    }
    return Promise.resolve(message);
  }

  put(message: ReceiveMessage): void {
    if (!this.#queue.isAwaited) {
      if (this.#isFlooded(message)) return;
      this.#queuedBytes += sizeOf(message);
    }
    this.#queue.push(message);
    if (this.#queue.length >= MAX_QUEUED_MESSAGES || this.#queuedBytes >= MAX_QUEUED_BYTES) this.#source?.pause();
  }

  /** Tells if a message is one too many, for which the client is cut. */
  #isFlooded(message: ReceiveMessage): boolean {
    if (!this.ended && this.#source?.isPaused) {
      if (this.#excessBytes > MAX_EXCESS_BYTES) {
        this.#source.close(CLOSE.policyViolation, "Too many messages wait");
        this.end(CLOSE.policyViolation, "Too many messages wait");
      }
      this.#excessBytes += sizeOf(message);
    }
    return this.ended;
  }

  /** The client has gone, or this side goes. The first time counts. */
  end(code: number, reason: string): void {
    this.#queue.end({ type: "websocket.disconnect", code, reason });
  }
}

function sizeOf(message: ReceiveMessage): number {
  return message.type === "websocket.receive" ? (message.text?.length ?? message.bytes?.length ?? 0) : 0;
}
