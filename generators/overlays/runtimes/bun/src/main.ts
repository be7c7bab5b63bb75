import { serve } from "tsgi/node";

import { app } from "./app.js";

/** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are used. */
const trustedProxies = (Bun.env["TRUSTED_PROXIES"] ?? "").split(",").filter((proxy) => proxy !== "");

await serve(app, { host: Bun.env["HOST"] ?? "127.0.0.1", port: Number(Bun.env["PORT"] ?? 8000), trustedProxies });
