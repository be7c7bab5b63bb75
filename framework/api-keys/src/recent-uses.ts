/** The keys that were used in the last minute. @module */

/** The time of use has the accuracy of a minute: a write for each request would cost more than its check. */
const MINUTE_MS = 60_000;

/** Decides which uses of keys are written. It forgets a key after a minute, so its size is bounded by the keys in use. */
export class RecentUses {
  /** The times of the uses that were written, by id, the oldest first. */
  readonly times = new Map<string, number>();

  /** Tells if a use is the first one for a minute, and remembers it. */
  add(id: string, now: number): boolean {
    if (now - (this.times.get(id) ?? 0) < MINUTE_MS) return false;
    this.times.delete(id); // so that it becomes the last one
    this.times.set(id, now);
    for (const [other, time] of this.times) {
      if (now - time < MINUTE_MS) break;
      this.times.delete(other);
    }
    return true;
  }
}
