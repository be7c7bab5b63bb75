/** Calls a contender with an example. @module */
import type { Example } from "../examples.js";
import { ASGICaller } from "./asgi-caller.js";
import type { Caller, Contender } from "./contender.js";
import { FetchCaller } from "./fetch-caller.js";
import { InjectCaller } from "./inject-caller.js";

/** Prepares calls of a contender in the form it takes. */
export function createCaller(contender: Contender, example: Example): Caller {
  if (contender.kind === "asgi") return new ASGICaller(contender.handle, example);
  if (contender.kind === "fetch") return new FetchCaller(contender.handle, example);
  return new InjectCaller(contender.handle, example);
}
