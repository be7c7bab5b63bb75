/** Streams in the memory of this process. @module */
import type { EndStatus, LogLimits, LogStore, NewStream, StoredEvent, StreamState, Wake } from "./log-store.js";
import { UnavailableError } from "./unavailable-error.js";

interface Kept {
  /** Characters of its name, its owner and its events. */
  bytes: number;
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

/** The limits of each stream, and of all together. */
export interface MemoryLogLimits extends LogLimits {
  /** The most characters of all streams. */
  readonly maxBytes: number;
}

export class MemoryLogStore implements LogStore {
  readonly #limits: MemoryLogLimits;
  readonly #streams = new Map<string, Kept>();
  /** The streams that have ended, the first one first. They make room for others. */
  readonly #ended = new Set<string>();
  /** Characters of all streams. */
  #bytes = 0;
  #sweepAt = MIN_SWEEP;
  readonly #watchers = new Map<string, Set<Wake>>();

  constructor(limits: MemoryLogLimits) {
    this.#limits = limits;
  }

  async open(): Promise<void> {}

  async create({ id, token, owner }: NewStream): Promise<boolean> {
    if (this.#find(id) !== undefined) return false;
    const bytes = id.length + token.length + (owner?.length ?? 0);
    this.#makeRoom(bytes, null);
    this.#bytes += bytes;
    this.#streams.set(id, { bytes, token, owner, status: "running", events: [], last: 0, expiresAt: this.#expiry() });
    if (this.#streams.size >= this.#sweepAt) this.#removeExpired();
    return true;
  }

  async append({ id, token }: NewStream, event: StoredEvent): Promise<boolean> {
    const stream = this.#find(id);
    if (stream?.status !== "running" || stream.token !== token) return false;
    this.#makeRoom(event.text.length, stream);
    this.#add(stream, event.text.length);
    stream.events.push(event);
    if (stream.events.length > this.#limits.maxEvents) this.#removeFirst(stream);
    stream.last = event.number;
    stream.expiresAt = this.#expiry();
    this.#wake(id, false);
    return true;
  }

  async end(id: string, token: string, status: EndStatus): Promise<boolean> {
    const stream = this.#find(id);
    if (stream?.status !== "running" || stream.token !== token) return false;
    stream.status = status;
    this.#ended.add(id);
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
    for (const [id, stream] of this.#streams) this.#remove(id, stream);
  }

  #find(id: string): Kept | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.status === "running" || stream.expiresAt > performance.now()) return stream;
    this.#remove(id, stream);
    return undefined;
  }

  #add(stream: Kept, bytes: number): void {
    stream.bytes += bytes;
    this.#bytes += bytes;
  }

  #remove(id: string, stream: Kept): void {
    this.#bytes -= stream.bytes;
    this.#streams.delete(id);
    this.#ended.delete(id);
  }

  #removeFirst(stream: Kept): void {
    this.#add(stream, -(stream.events.shift()?.text.length ?? 0));
  }

  /**
   * Makes room for an event, or for a new stream: the streams that ended first are removed, then the oldest events of the same
   * stream, whose readers get 410. A stream does not lose events to another one that runs.
   *
   * @throws UnavailableError if other streams that run have all the room.
   */
  #makeRoom(bytes: number, stream: Kept | null): void {
    const isFull = () => this.#bytes + bytes > this.#limits.maxBytes;
    for (const id of this.#ended) {
      if (!isFull()) return;
      const ended = this.#streams.get(id);
      if (ended !== undefined) this.#remove(id, ended);
    }
    if (!isFull()) return;
    const others = this.#bytes - (stream?.events.reduce((sum, { text }) => sum + text.length, 0) ?? 0);
    if (others + bytes > this.#limits.maxBytes) {
      throw new UnavailableError(new Error(`The streams in memory have all of maxBytes (${this.#limits.maxBytes}).`));
    }
    if (stream !== null) while (isFull()) this.#removeFirst(stream);
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
