/** The interface between `StreamLog` and the place that keeps its events. @module */

/** The state of a stream. `unknown` if the id was never used, or its stream has expired. */
export type StreamStatus = "running" | "done" | "failed" | "stopped" | "unknown";

/** The end of a stream. */
export type EndStatus = Exclude<StreamStatus, "running" | "unknown">;

/** JSON of one event, with its place in the stream. */
export interface StoredEvent {
  /** Counted from 1, without gaps. */
  readonly number: number;
  /** JSON of `{ event?, data }`. */
  readonly text: string;
}

/** A stream at one moment, with the events after a number. */
export interface StreamState {
  /** Tells one stream from a later one with the same id. */
  readonly token: string;
  readonly status: Exclude<StreamStatus, "unknown">;
  readonly owner: string | null;
  /** The number of the last event; 0 before the first one. */
  readonly last: number;
  /** The number of the oldest event that is kept; `last + 1` before the first one. */
  readonly first: number;
  readonly events: readonly StoredEvent[];
}

/** For how long, and how many events of each stream are kept. */
export interface LogLimits {
  readonly keepMs: number;
  readonly maxEvents: number;
}

/** The facts that a producer registers before its first event. */
export interface NewStream {
  readonly id: string;
  readonly token: string;
  readonly owner: string | null;
}

/** Called after a change of a stream. @param hasEnded - Whether the change is known to be the end. */
export type Wake = (hasEnded: boolean) => void;

/** Keeps streams. Each method is one atomic step, and can be repeated after a failure without a double. */
export interface LogStore {
  /** Begins to connect, and returns without waiting for the server. */
  open(): Promise<void>;
  /** Returns `false` if a stream with the id exists. */
  create(stream: NewStream): Promise<boolean>;
  /** Adds an event. Returns `false` if the stream no longer runs. */
  append(stream: NewStream, event: StoredEvent): Promise<boolean>;
  /** Ends a stream that runs. Returns `false` if it does not. */
  end(id: string, token: string, status: EndStatus): Promise<boolean>;
  /** Reports that the producer lives. Returns `false` if the stream no longer runs. */
  renew(stream: NewStream): Promise<boolean>;
  /** The stream with at most `limit` events after a number; `null` for an unknown id. */
  read(id: string, after: number, limit: number): Promise<StreamState | null>;
  /** Calls `wake` after each change of a stream, and also without one. @returns Ends it. */
  watch(id: string, wake: Wake): Promise<() => void>;
  close(): Promise<void>;
}

/** Milliseconds after which a producer that has not reported is dead. */
export const LEASE_MS = 9_000;

/** Milliseconds between two reports of a producer, and between two looks at a stream that does not change. */
export const BEAT_MS = 3_000;
