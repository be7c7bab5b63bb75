import { type App, Cookie, FileResponse, Router, StaticFiles } from "tsgi";

import { settings } from "../../config.js";
import { noStore } from "../../routes/auth.js";
import { DEMO_USER } from "../../seed.js";
import { provider } from "../oidc/account.js"; // with oidc

const PUBLIC = new URL("../../../public/", import.meta.url);
/** A copy may be cached, but is revalidated each time: the response is 304 while the file is unchanged. */
const headers = { "Cache-Control": "no-cache" };

/** The logout continues at the provider. */
const formTargets = provider === null ? "'self'" : `'self' ${new URL(provider.issuer).origin}`; // with oidc
// without oidc: const formTargets = "'self'";

/**
 * Only the resources that the page at `/` needs, from this origin. The pages of the documentation have a separate
 * policy.
 */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  `form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'`;

const page = new Router({ tags: ["page"] });

page.get("/", { includeInSchema: false }, async () => new FileResponse(new URL("index.html", PUBLIC), { headers }));

/** The session of the own login. A provider's login has its own route. */
const session = new Router({ prefix: "/auth", tags: ["page"] });

session.get(
  "/session",
  { includeInSchema: false, middleware: [noStore], params: { refresh_token: Cookie({ default: null }), settings } },
  // For the page, before it asks for what would be refused: browsers write each 401 to their console.
  async ({ refresh_token, settings: { nodeEnv } }) => {
    const { username, password } = DEMO_USER;
    return { hasCookie: refresh_token !== null, demo: nodeEnv === "development" ? { username, password } : null };
  },
);

/** Adds the page that people see, and its files. */
export function addPage(app: App): void {
  app.includeRouter(page);
  if (provider === null) app.includeRouter(session); // with oidc
  // without oidc: app.includeRouter(session);
  app.mount("/assets", new StaticFiles(new URL("assets/", PUBLIC), { headers }));
}
