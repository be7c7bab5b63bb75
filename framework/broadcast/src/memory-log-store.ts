/** Streams in the memory of this process. @module */
import type { EndStatus, LogLimits, LogStore, NewStream, StoredEvent, StreamState, Wake } from "./log-store.js";

interface Kept {
  readonly token: string;
  readonly owner: string | null;
  status: StreamState["status"];
  readonly events: StoredEvent[];
  last: number;
  /** As `performance.now()` tells it. */
  expiresAt: number;
}

/** The least number of streams at which expired ones are removed. */
const MIN_SWEEP = 1_024;

export class MemoryLogStore implements LogStore {
  readonly #limits: LogLimits;
  readonly #streams = new Map<string, Kept>();
  #sweepAt = MIN_SWEEP;
  readonly #watchers = new Map<string, Set<Wake>>();

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  async open(): Promise<void> {}

  async create({ id, token, owner }: NewStream): Promise<boolean> {
    if (this.#find(id) !== undefined) return false;
    this.#streams.set(id, { token, owner, status: "running", events: [], last: 0, expiresAt: this.#expiry() });
    if (this.#streams.size >= this.#sweepAt) this.#removeExpired();
    return true;
  }

  async append({ id, token }: NewStream, event: StoredEvent): Promise<boolean> {
    const stream = this.#find(id);
    if (stream?.status !== "running" || stream.token !== token) return false;
    stream.events.push(event);
    if (stream.events.length > this.#limits.maxEvents) stream.events.shift();
    stream.last = event.number;
    stream.expiresAt = this.#expiry();
    this.#wake(id, false);
    return true;
  }

  async end(id: string, token: string, status: EndStatus): Promise<boolean> {
    const stream = this.#find(id);
    if (stream?.status !== "running" || stream.token !== token) return false;
    stream.status = status;
    stream.expiresAt = this.#expiry();
    this.#wake(id, true);
    return true;
  }

  async renew({ id, token }: NewStream): Promise<boolean> {
    const stream = this.#find(id);
    return stream?.status === "running" && stream.token === token;
  }

  async read(id: string, after: number, limit: number): Promise<StreamState | null> {
    const stream = this.#find(id);
    if (stream === undefined) return null;
    const { token, owner, status, last } = stream;
    const first = last - stream.events.length + 1;
    const from = Math.max(0, after + 1 - first);
    return { token, owner, status, last, first, events: stream.events.slice(from, from + limit) };
  }

  async watch(id: string, wake: Wake): Promise<() => void> {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id);
    };
  }

  async close(): Promise<void> {
    this.#streams.clear();
  }

  #find(id: string): Kept | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.status === "running" || stream.expiresAt > performance.now()) return stream;
    this.#streams.delete(id);
    return undefined;
  }

  /** Runs when the number of streams has doubled, so each stream is looked at twice at most. */
  #removeExpired(): void {
    for (const id of this.#streams.keys()) this.#find(id);
    this.#sweepAt = Math.max(MIN_SWEEP, this.#streams.size * 2);
  }

  #expiry(): number {
    return performance.now() + this.#limits.keepMs;
  }

  #wake(id: string, hasEnded: boolean): void {
    for (const wake of this.#watchers.get(id) ?? []) wake(hasEnded);
  }
}
