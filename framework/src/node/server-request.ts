/** A request of `node:http` whose body goes to the application without a stream between. @module */
import { IncomingMessage } from "node:http";
import { endEmpty, readOn, stopReading } from "./internals.js";
import type { BodyFlow, RequestBody } from "./request-body.js";

const EMPTY = Buffer.alloc(0);

/**
 * The parser hands each part of a body on by `push`, into the stream that a request is. A stream waits a turn of the loop
 * before it tells of a part, and two more at its end, which took a tenth of the time of a small POST; so the parts go to a
 * {@link RequestBody} instead, where there is one.
 */
export class ServerRequest extends IncomingMessage implements BodyFlow {
  #body: RequestBody | null = null;

  /** Where the body is to go. To be set while the head is being handled: parts that have come are not given again. */
  set body(body: RequestBody) {
    this.#body = body;
  }

  more(): void {
    readOn(this);
  }

  /** Called by the parser. Gives whether it may go on reading. */
  override push(chunk: Buffer | null): boolean {
    const body = this.#body;
    if (body === null) return super.push(chunk);
    const goesOn = body.take(chunk ?? EMPTY, chunk === null);
    if (!goesOn) stopReading(this);
    if (body.outstanding > 0) return goesOn;
    if (this.listenerCount("end") > 0) super.push(null); // node:http itself listens, where the answer came first
    else endEmpty(this);
    return true;
  }
}
