/** The parts that all servers of this section share. @module */
import { randomUUID } from "node:crypto";

/** The origin whose pages may read the answers. */
export const ORIGIN = "https://shop.example.org";

/** A log that keeps nothing: a line costs its text alone. */
export const sink = { write() {} };

/** For frameworks without a request id of their own. */
export const createId = () => randomUUID();
