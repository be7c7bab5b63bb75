/** The parts that all servers of this section share. @module */
import { randomUUID } from "node:crypto";

export { ORIGIN, SECURITY_HEADERS } from "../../../load-tests/dist/middleware/cases.js";

/** A log that keeps nothing: a line costs its text alone. */
export const sink = { write() {} };

/** For frameworks without a request id of their own. */
export const createId = () => randomUUID();
