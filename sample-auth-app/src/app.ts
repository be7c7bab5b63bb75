import { App } from "tsgi";
import { health } from "tsgi/health";
import { mcp } from "tsgi/mcp";
import { requestId, securityHeaders } from "tsgi/middleware";

import { log } from "./logging.js";
import { auth } from "./routes/auth.js";
import { items } from "./routes/items.js";
import { assets, page } from "./routes/page.js";
import { users } from "./routes/users.js";

/** What the page at `/` needs, and nothing from anywhere else. The pages of the documentation have a policy of their own. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Puts the application together. It opens nothing before it is served, and no port at all. */
export function createApp(logger = log): App {
  const app = new App({
    title: "Sample application",
    description: "The OAuth2 password flow on tsgi.",
    version: "0.1.0",
    tags: [
      { name: "auth", description: "Login, refresh and logout." },
      { name: "users", description: "Registration, and what users may see and change of themselves." },
      { name: "items", description: "What belongs to the user who asks." },
      { name: "health", description: "For load balancers." },
    ],
    logger,
  });
  app.includeRouter(auth);
  app.includeRouter(users);
  app.includeRouter(items);
  app.includeRouter(page);
  app.includeRouter(health());
  app.includeRouter(mcp(app));
  app.get("/health", { tags: ["health"], summary: "Whether the process answers" }, async () => ({ status: "ok" }));
  app.mount("/assets", assets);
  app.addMiddleware(securityHeaders({ contentSecurityPolicy: PAGE_POLICY }));
  app.addMiddleware(requestId());
  return app;
}
