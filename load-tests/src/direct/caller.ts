/** Calls a contender with an example. @module */
import type { Answer, Example } from "../examples.js";
import { ASGICaller } from "./asgi-caller.js";
import type { Contender } from "./contender.js";
import { FetchCaller } from "./fetch-caller.js";
import { InjectCaller } from "./inject-caller.js";

/** One contender with one example. Everything that is the same for each request is prepared here. */
export interface Caller {
  /** Makes one request and gives the whole answer. */
  ask(): Promise<Answer>;
  /**
   * Makes requests one after the other and gives the number of wrong answers among them. A request is everything that
   * a server does anew for each: the object that the contender is called with is made inside.
   */
  repeat(requests: number, right: Answer): Promise<number>;
}

/** Prepares calls of a contender in the form it takes. */
export function createCaller(contender: Contender, example: Example): Caller {
  if (contender.kind === "asgi") {
    return new ASGICaller(contender.handle, example);
  }
  if (contender.kind === "fetch") {
    return new FetchCaller(contender.handle, example);
  }
  return new InjectCaller(contender.handle, example);
}
