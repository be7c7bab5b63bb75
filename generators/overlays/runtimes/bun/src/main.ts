import { serve } from "tsgi/node";

import { app } from "./app.js";

await serve(app, { host: Bun.env["HOST"] ?? "127.0.0.1", port: Number(Bun.env["PORT"] ?? 8000) });
