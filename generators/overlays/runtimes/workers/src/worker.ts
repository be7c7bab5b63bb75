import { toFetchHandler } from "tsgi/web";

import { app } from "./app.js";

/**
 * Cloudflare writes the client's address into this header:
 * https://developers.cloudflare.com/fundamentals/reference/http-headers/
 */
const fetch = toFetchHandler(app, { clientAddressHeader: "CF-Connecting-IP" });
export default { fetch };
