/** Chunks of a body that were received and not read yet. @module */
import { asBytes, concatBytes, createBytes } from "../../protocol/bytes.js";

/**
 * Chunks with fewer bytes than this are joined: each separate chunk costs about 200 bytes in addition to its content.
 */
const SMALL = 4096;
const ROOM = 16 * 1024;

/** A chunk that is being put together from small ones. */
interface Gathering {
  readonly buffer: Uint8Array;
  length: number;
}

/** The chunks of a body that have arrived and are not read yet. A million parts of one byte take a million bytes. */
export class ChunkQueue {
  #chunks: (Uint8Array | Gathering)[] = [];
  #bytes = 0;

  /** The number of bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#bytes += chunk.length;
    const last = this.#chunks.at(-1);
    if (last === undefined || chunk.length >= SMALL) this.#chunks.push(asBytes(chunk));
    else if (!(last instanceof Uint8Array) && last.length + chunk.length <= ROOM) {
      last.buffer.set(chunk, last.length);
      last.length += chunk.length;
    } else {
      const buffer = createBytes(ROOM);
      buffer.set(chunk);
      this.#chunks.push({ buffer, length: chunk.length });
    }
  }

  /** The next chunk, or `undefined` if the queue is empty. */
  shift(): Uint8Array | undefined {
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return undefined;
    const bytes = bytesOf(chunk);
    this.#bytes -= bytes.length;
    return bytes;
  }

  /** Everything that waits, in one piece; a single part is not copied. */
  takeAll(): Uint8Array {
    const whole = concatBytes(this.#chunks.map(bytesOf));
    this.#chunks = [];
    this.#bytes = 0;
    return whole;
  }
}

function bytesOf(chunk: Uint8Array | Gathering): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : chunk.buffer.subarray(0, chunk.length);
}
