import { App, type Instrumentation, t } from "tsgi";
import { health } from "tsgi/health";
import { accessLog, requestId, securityHeaders } from "tsgi/middleware";
import { prometheus } from "@tsgi/metrics"; // with metrics

import { jobs } from "./extras/jobs/index.js"; // with jobs
import { liveItems } from "./extras/live/routes.js"; // with live
import { tools } from "./extras/mcp/index.js"; // with mcp
import { provider } from "./extras/oidc/account.js"; // with oidc
import { addProvider } from "./extras/oidc/provider.js"; // with oidc
import { addPage, PAGE_POLICY } from "./extras/page/index.js"; // with page
import { tracing } from "./extras/tracing/index.js"; // with tracing
import { log, requestContext } from "./logging.js";
import { auth } from "./routes/auth.js";
import { items } from "./routes/items.js"; // with items
import { registration, users } from "./routes/users.js";

/** Puts the application together. It opens no connection before it is served, and no port. */
export function createApp(logger = log, access: Instrumentation = accessLog()): App {
  const observers: Instrumentation[] = [requestContext, access];
  const metrics = prometheus(); // with metrics
  observers.push(metrics); // with metrics
  observers.unshift(...tracing.instrumentation); // with tracing
  const app = new App({
    title: "Sample application",
    description: "The OAuth2 password flow on tsgi.",
    version: "0.1.0",
    tags: [
      { name: "auth", description: "Login, refresh and logout." },
      { name: "users", description: "Registration, and what users may see and change of themselves." },
      { name: "items", description: "The items of the current user." }, // with items
      { name: "health", description: "For load balancers." },
    ],
    logger,
    instrumentation: observers,
    lifespan: jobs.lifespan, // with jobs
  });
  const login = provider === null ? [auth, registration] : addProvider(app); // with oidc
  // without oidc: const login = [auth, registration];
  login.forEach((router) => app.includeRouter(router));
  app.includeRouter(users);
  app.includeRouter(items); // with items
  app.includeRouter(liveItems); // with live
  app.includeRouter(tools(app)); // with mcp
  app.includeRouter(metrics.router("/metrics", { privateOnly: true })); // with metrics
  app.includeRouter(health());
  const returns = t.Object({ status: t.String() }, { title: "Health" });
  app.get("/health", { tags: ["health"], summary: "Liveness of the process", returns }, async () => ({
    status: "ok",
  }));
  addPage(app); // with page
  app.onShutdown(tracing.shutdown); // with tracing
  app.addMiddleware(securityHeaders({ contentSecurityPolicy: PAGE_POLICY })); // with page
  // without page: app.addMiddleware(securityHeaders());
  app.addMiddleware(requestId());
  return app;
}
