import { oidcLogin } from "@tsgi/login";
import { redisStore } from "@tsgi/redis"; // with redis
import { Redis } from "ioredis"; // with redis
import { type App, Depends, Router } from "tsgi";
import { csrf, memoryStore, sessions } from "tsgi/middleware";

import { readSettings } from "../../config.js"; // with redis
import { SCOPES } from "../../dependencies.js";
import { noStore } from "../../routes/auth.js";
import { provider } from "./account.js";

/** The login of the page at the provider. Programs and agents send access tokens instead. */
const login =
  provider &&
  oidcLogin({
    issuer: provider.issuer,
    clientId: provider.clientId,
    ...(provider.clientSecret !== undefined && { clientSecret: provider.clientSecret }),
    baseURL: provider.audience.replace(/\/$/, ""),
    scopes: Object.keys(SCOPES),
    parameters: { resource: provider.audience },
  });

/**
 * Adds the sessions of the page, in Redis for all replicas or else in this process.
 *
 * @returns the routers of the login
 */
export function addProvider(app: App): Router[] {
  if (provider === null || login === null) {
    return [];
  }
  const { redisUrl } = readSettings(); // with redis
  const redis = redisUrl === undefined ? null : new Redis(redisUrl, { lazyConnect: true }); // with redis
  app.onShutdown(() => redis?.disconnect()); // with redis
  const store = redis === null ? memoryStore() : redisStore(redis, { prefix: "sessions:" }); // with redis
  // without redis: const store = memoryStore();
  app.addMiddleware(sessions({ store, secure: provider.audience.startsWith("https:") }));
  const page = new Router({ prefix: "/auth", middleware: [noStore, csrf({ allowPrograms: true })] });
  page.get(
    "/session",
    { includeInSchema: false, params: { user: Depends(login.user, { optional: true }) } },
    async ({ user }) => ({ hasCookie: user !== null, demo: null, hasProvider: true }),
  );
  page.post(
    "/refresh",
    { includeInSchema: false, params: { access_token: Depends(login.accessToken) } },
    async ({ access_token }) => ({ access_token, token_type: "bearer" }),
  );
  return [login.router, page];
}
