import { App, HTTPException, JSONResponse } from "tsgi";
import { requestId, securityHeaders } from "tsgi/middleware";

import type { Config } from "./config.js";
import { createLog, type Log } from "./logging.js";
import { auth } from "./routes/auth.js";
import { health } from "./routes/health.js";
import { items } from "./routes/items.js";
import { assets, page } from "./routes/page.js";
import { users } from "./routes/users.js";
import { TooManyAttemptsError } from "./security/throttle.js";
import { Services } from "./services.js";
import { UnavailableError } from "./unavailable.js";

/** What the page at `/` needs, and nothing from anywhere else. The pages of the documentation have a policy of their own. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Puts the application together. It opens nothing before its lifespan starts, and no port at all. */
export function createApp(config: Config, log: Log = createLog()): App {
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
    logger: log,
    lifespan: async function* () {
      const services = await Services.open(config, log);
      try {
        yield { services };
      } finally {
        await services.close();
      }
    },
  });
  app.includeRouter(auth);
  app.includeRouter(users);
  app.includeRouter(items);
  app.includeRouter(health);
  app.includeRouter(page);
  app.mount("/assets", assets);
  app.exceptionHandler(TooManyAttemptsError, async ({ retryAfterSeconds }) => tryLater(429, retryAfterSeconds));
  app.exceptionHandler(UnavailableError, async (error, request) => {
    log.warn({ err: error, requestId: request.state["requestId"] }, "answered 503");
    return tryLater(503, 1);
  });
  app.addMiddleware(securityHeaders({ contentSecurityPolicy: PAGE_POLICY }));
  app.addMiddleware(requestId());
  return app;
}

function tryLater(statusCode: 429 | 503, seconds: number): JSONResponse {
  const { detail } = new HTTPException(statusCode);
  return new JSONResponse({ detail }, { statusCode, headers: { "Retry-After": String(seconds) } });
}
