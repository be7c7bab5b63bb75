/** The state of a connection: usable now, usable soon, or lost until the server is back. @module */
import { Deferred, markHandled } from "tsgi/internals";
import { UnavailableError } from "./unavailable-error.js";

/** The state of a connection that reconnects by itself. */
export class ConnectionState {
  #first: Deferred<void> | null;
  #usable: Promise<void>;
  #restored: Deferred<void> | null = new Deferred();

  constructor() {
    this.#first = new Deferred();
    this.#usable = markHandled(this.#first.promise);
  }

  /** Settles at once, except while the first connection is being made. @throws UnavailableError while it is lost. */
  get usable(): Promise<void> {
    return this.#usable;
  }

  /** Settles when the connection is usable, even if it is lost now. */
  get restored(): Promise<void> {
    return this.#restored?.promise ?? this.#usable;
  }

  ready(): void {
    this.#restored?.resolve();
    this.#restored = null;
    this.#first?.resolve();
    this.#first = null;
    this.#usable = Promise.resolve();
  }

  lost(cause: unknown): void {
    const error = new UnavailableError(cause);
    this.#first?.reject(error);
    this.#first = null;
    this.#usable = markHandled(Promise.reject(error));
    this.#restored ??= new Deferred();
  }
}
