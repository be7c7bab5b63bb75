import { serve } from "tsgi/node";

import { app } from "./app.js";

await serve(app, { host: Deno.env.get("HOST") ?? "127.0.0.1", port: Number(Deno.env.get("PORT") ?? 8000) });
