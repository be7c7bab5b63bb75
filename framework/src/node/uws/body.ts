/** The body of a request on uWebSockets.js. @module */
import { RequestBody } from "../request-body.js";
import type { UwsResponse } from "./module.js";

/**
 * Takes the body of a request as it comes. To be called while the request's handler is.
 *
 * @param announced - How many bytes the body has; 0 for none, `NaN` where nobody said.
 */
export function receiveBody(res: UwsResponse, announced: number): RequestBody {
  let isPaused = false;
  const more = (): void => {
    if (isPaused) res.resume();
    isPaused = false;
  };
  const body = new RequestBody({ more }, announced, null);
  if (announced !== 0) {
    res.onData((chunk, isLast) => {
      const copy = Buffer.from(new Uint8Array(chunk)); // the bytes are uWebSockets' own again after this
      isPaused = !body.take(copy, isLast);
      if (isPaused) res.pause();
    });
  }
  return body;
}
