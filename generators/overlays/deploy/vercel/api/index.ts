import { toFetchHandler } from "tsgi/web";

import { app } from "../src/app.js";

/**
 * The function of `vercel.json`, for all paths. Vercel writes the client's address into this header:
 * https://vercel.com/docs/headers/request-headers
 */
const fetch = toFetchHandler(app, { clientAddressHeader: "X-Real-Ip" });
export default { fetch };
