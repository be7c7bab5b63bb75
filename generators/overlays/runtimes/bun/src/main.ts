import { serve } from "tsgi/node";

import { app } from "./app.js";

/** The proxies whose headers about the client are used. */
const trustedProxies = (Bun.env["TRUSTED_PROXIES"] ?? "").split(",").filter((proxy) => proxy !== "");
/** The header in which they send the client's address; undefined for `X-Forwarded-For`. */
const clientAddressHeader = Bun.env["CLIENT_ADDRESS_HEADER"] || undefined;

await serve(app, {
  host: Bun.env["HOST"] ?? "127.0.0.1",
  port: Number(Bun.env["PORT"] ?? 8000),
  trustedProxies,
  clientAddressHeader,
});
