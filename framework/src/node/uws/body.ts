/** The body of a request on uWebSockets.js. @module */
import { RequestBody } from "../request-body.js";
import type { UwsResponse } from "./module.js";
import type { UwsSink } from "./response.js";

/**
 * Takes the body of a request as it comes. To be called while the request's handler is.
 *
 * @param sink - Where the response goes, whose end lets the rest of the body pass.
 * @param announced - How many bytes the body has; 0 for none, `NaN` where nobody said.
 */
export function receiveBody(res: UwsResponse, sink: UwsSink, announced: number): RequestBody {
  const body = new RequestBody(sink, announced, null);
  if (announced !== 0) {
    res.onData((chunk, isLast) => {
      const copy = Buffer.from(new Uint8Array(chunk)); // the bytes are uWebSockets' own again after this
      if (!body.take(copy, isLast)) sink.pause();
    });
  }
  return body;
}
