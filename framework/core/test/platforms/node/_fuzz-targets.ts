/** The targets of the fuzzer, by their names. @module */
import { openChunked } from "./_chunked-target.js";
import type { OpenTarget } from "./_fuzz-target.js";
import { openHead } from "./_head-target.js";
import { openHTTP1 } from "./_http1-target.js";
import { openWebSocket } from "./_websocket-target.js";

export const targets: ReadonlyMap<string, OpenTarget> = new Map([
  ["http1", openHTTP1],
  ["chunked", openChunked],
  ["head", openHead],
  ["websocket", openWebSocket],
]);
