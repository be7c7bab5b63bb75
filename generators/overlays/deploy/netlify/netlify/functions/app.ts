import { app } from "../../src/app.js";

/** It reads the client's address from Netlify's context: https://docs.netlify.com/functions/api/ */
export default app.fetch;

/** The paths that this function serves. */
export const config = { path: "/*" };
