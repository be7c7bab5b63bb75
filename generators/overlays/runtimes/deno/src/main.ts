import { serve } from "tsgi/node";

import { app } from "./app.js";

/** The proxies whose headers about the client are used. */
const trustedProxies = (Deno.env.get("TRUSTED_PROXIES") ?? "").split(",").filter((proxy) => proxy !== "");
/** The header in which they send the client's address; undefined for `X-Forwarded-For`. */
const clientAddressHeader = Deno.env.get("CLIENT_ADDRESS_HEADER") || undefined;

await serve(app, {
  host: Deno.env.get("HOST") ?? "127.0.0.1",
  port: Number(Deno.env.get("PORT") ?? 8000),
  trustedProxies,
  clientAddressHeader,
});
