/** The streams of Lambda's Node.js runtime, in memory. */
import { once } from "node:events";
import { Writable } from "node:stream";
import type { LambdaHead } from "../src/result.js";

/** A response stream that keeps its chunks, and that a reader can slow down. */
export class RuntimeStream extends Writable {
  /** The head of `HttpResponseStream.from`; `null` before the first write, as in the runtime. */
  head: LambdaHead | null = null;
  readonly chunks: Buffer[] = [];
  /** Called before the first write. */
  beforeFirstWrite: (() => void) | null = null;
  #resume: (() => void) | null = null;
  #isPaused = false;

  constructor() {
    super({ highWaterMark: 1024 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (chunk.length > 0) this.chunks.push(Buffer.from(chunk));
    this.emit("chunk");
    if (this.#isPaused) this.#resume = done;
    else done();
  }

  override write(chunk: unknown): boolean {
    this.beforeFirstWrite?.();
    this.beforeFirstWrite = null;
    return super.write(chunk);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#resume?.();
    this.#resume = null;
  }

  /** Waits for the next chunk. */
  async next(): Promise<void> {
    await once(this, "chunk");
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

/** The global of the runtime. */
export const awslambda = {
  streamifyResponse: <Handler extends object>(handler: Handler) => Object.assign(handler, { isStreamed: true }),
  HttpResponseStream: {
    from: (stream: RuntimeStream, head: LambdaHead): RuntimeStream => {
      stream.beforeFirstWrite = () => void (stream.head = head);
      return stream;
    },
  },
};
