/** What runs beside the event loop, and the loop itself. @module */
export { installLoop, loopName, type LoopName } from "./concurrency/loop.js";
