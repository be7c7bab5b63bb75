/** The bound on the wait for a client that does not read its responses, or hardly reads them. @module */

/** The least that a client takes of a response, in bytes per millisecond. */
export const MIN_BYTES_PER_MS = 16;

/** The most bytes that a client takes before the system reports any of them, if the runtime counts the bytes of the system. */
export const MAX_UNSEEN_BYTES = 65_536;

/** Bytes that wait for the clients of a server, HTTP/1.1 and HTTP/2 together, beyond which they have less time. */
export const MAX_WAITING_BYTES = 67_108_864;

/** The share of `requestMs` that clients have then. */
export const CROWDED_SHARE = 1 / 30;

/**
 * Watches the bytes that wait for one client. Attack: clients that do not read keep their responses in memory, with the
 * dependencies of their requests: 50 of them held 438 MB for the 1,650 bytes that they had sent, for 800 s. Clients that
 * read a few bytes each time held them for as long as they liked.
 */
export class SlowReader {
  /** Milliseconds that remain for the client; `Infinity` while no bytes wait. */
  #leftMs = Infinity;
  #takenBytes = 0;
  #checkedAt = 0;

  /**
   * Tells if the client has used up its time: `requestMs`, and the time that the waiting bytes take at the least rate. It uses
   * up time while bytes wait, and earns time by taking bytes, at the least rate.
   *
   * @param isCrowded - Whether many bytes wait for the clients of the server.
   */
  isLate(takenBytes: number, waitingBytes: number, now: number, requestMs: number, isCrowded = false): boolean {
    const earnedMs = (takenBytes - this.#takenBytes) / MIN_BYTES_PER_MS;
    const usedMs = now - this.#checkedAt;
    this.#takenBytes = takenBytes;
    this.#checkedAt = now;
    if (waitingBytes === 0) {
      this.#leftMs = Infinity;
      return false;
    }
    const wholeMs = (isCrowded ? requestMs * CROWDED_SHARE : requestMs) + waitingBytes / MIN_BYTES_PER_MS;
    const isNew = this.#leftMs === Infinity;
    this.#leftMs = isNew ? wholeMs : Math.min(wholeMs, this.#leftMs + earnedMs - usedMs);
    return requestMs > 0 && this.#leftMs <= 0;
  }
}

/** Watches the bytes that wait in a socket, as {@link SlowReader} does. */
export class SlowSocket {
  readonly #socket: WriteCounts;
  readonly #reader = new SlowReader();

  constructor(socket: WriteCounts) {
    this.#socket = socket;
  }

  /** @param waitingBytes - Bytes that wait for the client, in the socket and elsewhere. */
  isLate(waitingBytes: number, now: number, requestMs: number, isCrowded: boolean): boolean {
    const isCounted = unsentBytesOf(this.#socket) > 0 || this.#socket.writableLength === 0;
    const unseenBytes = isCounted ? Math.min(waitingBytes, MAX_UNSEEN_BYTES) : waitingBytes;
    return this.#reader.isLate(takenBytesOf(this.#socket), unseenBytes, now, requestMs, isCrowded);
  }
}

/** The counts of a socket. */
export interface WriteCounts {
  readonly writableLength: number;
  readonly bytesWritten: number;
}

/** The counts that the runtime keeps of a socket. */
interface Handle {
  /** Bytes of the write in progress that the system has not accepted. */
  readonly writeQueueSize: number;
  readonly bytesWritten?: number;
}

/** The handle of a socket; with TLS, the one below, because the queue of the other only shrinks when all is sent. */
function handleOf(socket: object): Handle | null {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (!isHandle(handle)) return null;
  const parent: unknown = Reflect.get(handle, "_parent");
  return isHandle(parent) ? parent : handle;
}

function isHandle(value: unknown): value is Handle {
  return (
    typeof value === "object" && value !== null && "writeQueueSize" in value && typeof value.writeQueueSize === "number"
  );
}

/** The bytes that the client has taken, with those in the buffer of the system: it grows only when the client reads. */
export function takenBytesOf(socket: WriteCounts): number {
  const handle = handleOf(socket);
  if (handle?.bytesWritten !== undefined) return handle.bytesWritten - handle.writeQueueSize;
  return socket.bytesWritten - socket.writableLength - unsentBytesOf(socket);
}

/** Bytes of the write in progress that the system has not accepted; 0 if the runtime does not count them. */
export function unsentBytesOf(socket: object): number {
  return handleOf(socket)?.writeQueueSize ?? 0;
}
