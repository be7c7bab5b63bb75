/** One request on uWebSockets.js, which shows no connections. @module */
import type { Call, Line } from "../connection.js";
import type { UwsSink } from "./response.js";

/** Stands where a request of `node:http` has its connection. */
export class UwsLine implements Line {
  readonly calls: Call[] = [];
  closing = false;
  readonly refuses = false;
  /** Whether the WebSocket that it became has closed. */
  gone = false;
  /** Cuts the connection. */
  onDestroy: () => void;
  readonly #sink: UwsSink;
  readonly #register: Set<Line>;

  constructor(sink: UwsSink, register: Set<Line>) {
    this.#sink = sink;
    this.#register = register;
    this.onDestroy = () => sink.destroy();
    register.add(this);
  }

  get destroyed(): boolean {
    return this.gone || this.#sink.destroyed;
  }

  delete(call: Call): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    this.#register.delete(this);
  }

  /** Comes after the end, and uWebSockets takes no more words then. */
  closeAfter(): void {}

  close(): void {}

  destroy(): void {
    this.onDestroy();
  }
}
