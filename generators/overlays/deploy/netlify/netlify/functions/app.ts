import { app } from "../../src/app.js";

export default app.fetch;

/** The paths that this function serves. */
export const config = { path: "/*" };
