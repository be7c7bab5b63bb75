/** Finds clients that read nothing. @module */
import type { Socket } from "node:net";

/** `idle`: no bytes wait for the client. `stalled`: some do, and it has read none since the last round. */
export type Reading = "idle" | "reading" | "stalled";

/** Without a live count of the bytes that wait, a client is given another millisecond for each of so many, as on HTTP/2. */
const MIN_BYTES_PER_MS = 16;

/** Watches the client of a socket in rounds. */
export class ClientProgress {
  #takenBytes = 0;
  /** When it was last seen to read, in milliseconds; 0 if no bytes waited then. */
  #takenAt = 0;

  /** @param now - In milliseconds, by a clock that never goes back. */
  check(socket: Pick<Socket, "writableLength" | "bytesWritten">, now: number): Reading {
    const waiting = socket.writableLength;
    const unsent = unsentBytes(socket);
    // Node writes nothing else until the write in progress is done, so each change of this is a change by the client.
    const taken = socket.bytesWritten - waiting - unsent;
    const hasTaken = this.#takenAt === 0 || taken !== this.#takenBytes;
    if (waiting === 0 || hasTaken) {
      this.#takenBytes = taken;
      this.#takenAt = waiting === 0 ? 0 : now;
      return waiting === 0 ? "idle" : "reading";
    }
    return unsent > 0 || now - this.#takenAt >= waiting / MIN_BYTES_PER_MS ? "stalled" : "reading";
  }
}

/** Bytes of the write in progress that the system has not accepted; 0 if the runtime does not count them. */
function unsentBytes(socket: object): number {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null || !("writeQueueSize" in handle)) return 0;
  return typeof handle.writeQueueSize === "number" ? handle.writeQueueSize : 0;
}
