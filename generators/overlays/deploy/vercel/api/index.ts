import { app } from "../src/app.js";

/** The function of `vercel.json`, for all paths. */
export default { fetch: app.fetch };
