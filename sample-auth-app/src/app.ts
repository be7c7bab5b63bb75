import { App, type Instrumentation, t } from "tsgi";
import { health } from "tsgi/health";
import { mcp } from "@tsgi/mcp";
import { prometheus } from "@tsgi/metrics";
import type { Tracing } from "@tsgi/otel";
import { accessLog, requestId, securityHeaders } from "tsgi/middleware";

import { bearer, createSessions, formTargets, login } from "./security/provider.js";
import { log, requestContext } from "./logging.js";
import { auth, providerLogin } from "./routes/auth.js";
import { items } from "./routes/items.js";
import { liveItems } from "./routes/live.js";
import { assets, page } from "./routes/page.js";
import { users } from "./routes/users.js";

/**
 * Only the resources that the page at `/` needs, from this origin. The pages of the documentation have a separate
 * policy.
 */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  `form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'`;

/** Instrumentations that differ between programs and tests. */
export interface Observers {
  /** The access log; by default on stdout. */
  access?: Instrumentation;
  tracing?: Tracing | null;
}

/** Puts the application together. It opens no connection before it is served, and no port. */
export function createApp(logger = log, { access = accessLog(), tracing = null }: Observers = {}): App {
  const metrics = prometheus();
  const app = new App({
    title: "Sample application",
    description: "The OAuth2 password flow on tsgi.",
    version: "0.1.0",
    tags: [
      { name: "auth", description: "Login, refresh and logout." },
      { name: "users", description: "Registration, and what users may see and change of themselves." },
      { name: "items", description: "The items of the current user." },
      { name: "health", description: "For load balancers." },
    ],
    logger,
    // In front, so that the others have the id of the trace.
    instrumentation: [...(tracing ? [tracing.instrumentation] : []), requestContext, access, metrics],
  });
  if (tracing) {
    app.onShutdown(tracing.shutdown);
  }
  if (login === null) {
    app.includeRouter(auth);
  } else {
    const sessions = createSessions();
    app.addMiddleware(sessions.middleware);
    app.onShutdown(sessions.close);
    app.includeRouter(login.router);
    app.includeRouter(providerLogin);
  }
  app.includeRouter(users);
  app.includeRouter(items);
  app.includeRouter(liveItems);
  app.includeRouter(page);
  app.includeRouter(health());
  app.includeRouter(mcp(app, bearer ? { auth: bearer } : {}));
  app.includeRouter(metrics.router("/metrics", { privateOnly: true }));
  const returns = t.Object({ status: t.String() }, { title: "Health" });
  app.get("/health", { tags: ["health"], summary: "Liveness of the process", returns }, async () => ({
    status: "ok",
  }));
  app.mount("/assets", assets);
  app.addMiddleware(securityHeaders({ contentSecurityPolicy: PAGE_POLICY }));
  app.addMiddleware(requestId());
  return app;
}
