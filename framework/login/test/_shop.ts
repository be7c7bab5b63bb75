/** An application with a login. @module */
import { App, type AppOptions, Depends, Request } from "tsgi";
import { memoryStore, sessionOf, sessions, type SessionsOptions } from "tsgi/middleware";
import { oidcLogin, type OIDCLoginOptions } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { Browser } from "./_browser.js";
import { CLIENT } from "./_hostile-provider.js";

export const BASE_URL = "https://shop.test";

/** The options that a test changes. */
interface ShopOptions {
  readonly login?: Partial<OIDCLoginOptions>;
  readonly sessions?: Partial<SessionsOptions>;
  readonly app?: AppOptions;
  /** Adds routes. */
  readonly extend?: (app: App) => void;
}

/** Creates an application with a login at an issuer, and a browser. */
export function createShop(issuer: string, options: ShopOptions = {}) {
  const log = new KeptLog();
  const store = memoryStore();
  const login = oidcLogin({ issuer, ...CLIENT, baseURL: BASE_URL, ...options.login });
  const app = new App({ logger: log, middleware: [sessions({ store, ...options.sessions })], ...options.app });
  app.includeRouter(login.router);
  app.get("/me", { params: { user: Depends(login.user) } }, async ({ user }) => user);
  app.get(
    "/maybe",
    { params: { user: Depends(login.user, { optional: true }) } },
    async ({ user }) => user?.sub ?? null,
  );
  app.get("/session", { params: { request: Request } }, async ({ request }) => sessionOf(request));
  app.post("/visit", { params: { request: Request } }, async ({ request }) => {
    const session = sessionOf<{ visits?: number }>(request);
    return (session.visits = (session.visits ?? 0) + 1);
  });
  if (options.sessions?.store !== undefined || !("secret" in (options.sessions ?? {}))) {
    app.get("/token", { params: { token: Depends(login.accessToken) } }, async ({ token }) => token);
  }
  options.extend?.(app);
  const browser = new Browser(BASE_URL, app);
  return { app, browser, login, log, store };
}

/** Logs a browser in, and returns the page at the end. */
export async function logIn(browser: Browser, target = "/login"): Promise<{ status: number; path: string }> {
  const page = await browser.follow(await browser.open(target), ({ origin, pathname }) => {
    return origin === BASE_URL && !pathname.startsWith("/login");
  });
  return { status: page.status, path: page.url.pathname + page.url.search };
}
