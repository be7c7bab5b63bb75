import { serve } from "tsgi/node";

import { app } from "./app.js";

/** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are used. */
const trustedProxies = (Deno.env.get("TRUSTED_PROXIES") ?? "").split(",").filter((proxy) => proxy !== "");

await serve(app, {
  host: Deno.env.get("HOST") ?? "127.0.0.1",
  port: Number(Deno.env.get("PORT") ?? 8000),
  trustedProxies,
});
