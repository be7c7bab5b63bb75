/** A socket without a system: a test is its client. @module */
import { Socket } from "node:net";

/** Keeps all that is written, and ends its other side as well once it is ended. */
export class MemorySocket extends Socket {
  /** A character for each byte. */
  written = "";

  constructor() {
    super({ allowHalfOpen: true });
  }

  override _read(): void {}

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: () => void): void {
    this.#keep(chunk, encoding);
    done();
  }

  override _writev(chunks: { chunk: string | Buffer; encoding: BufferEncoding }[], done: () => void): void {
    for (const { chunk, encoding } of chunks) this.#keep(chunk, encoding);
    done();
  }

  #keep(chunk: string | Buffer, encoding: BufferEncoding): void {
    this.written +=
      typeof chunk === "string" ? Buffer.from(chunk, encoding).toString("latin1") : chunk.toString("latin1");
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }
}
