import { App } from "tsgi";
import { health as readiness } from "tsgi/health";
import { requestId, securityHeaders } from "tsgi/middleware";

import { health } from "./routes/health.js";
import { items } from "./routes/items.js";

/** The application. It opens the database when it is served. */
export const app = new App({ title: "{{title}}", version: "0.1.0" });
app.includeRouter(items);
app.includeRouter(health);
app.includeRouter(readiness());
app.addMiddleware(securityHeaders());
app.addMiddleware(requestId());
