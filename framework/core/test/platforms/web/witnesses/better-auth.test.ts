import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, Depends, HTTPException, Request, withParams } from "../../../../src/index.js";
import { type RunningServer, serve } from "../../../../src/node.js";
import { Deferred } from "../../../../src/common/promises.js";
import { fromFetchHandler } from "../../../../src/platforms/web/index.js";
import { KeptLog } from "../../../../../test/support/kept-log.js";
import { installOnDemand, IS_SLOW } from "../../../../../test/support/on-demand.js";

const PACKAGE = "better-auth@1.7.25";

interface Session {
  readonly user: { readonly email: string; readonly name: string };
}

/** As much of the package's types as is used here: it is not installed where these tests are compiled. */
interface Auth {
  readonly handler: (request: globalThis.Request) => Promise<globalThis.Response>;
  readonly api: { getSession: (options: { headers: Headers }) => Promise<Session | null> };
}

/** The package with its adapter that keeps everything in memory. */
async function createAuth(baseURL: string): Promise<Auth> {
  const home = installOnDemand("better-auth", [PACKAGE]);
  const load = (file: string): Promise<Record<string, (options: unknown) => unknown>> =>
    import(pathToFileURL(path.join(home, "node_modules/better-auth/dist", file)).href);
  const { betterAuth } = await load("index.mjs");
  const { memoryAdapter } = await load("adapters/memory-adapter/index.mjs");
  return betterAuth?.({
    baseURL,
    secret: "a secret of 32 bytes and more, for tests",
    database: memoryAdapter?.({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: false },
  }) as Auth;
}

/** The package below `/api/auth`, its own default, and a route that asks it who is there. */
function mounting(made: Promise<Auth>): App {
  const app = new App({ logger: new KeptLog() });
  const currentUser = withParams({ request: Request }, async ({ request }) => {
    const auth = await made;
    const session = await auth.api.getSession({ headers: request.toWeb().headers });
    if (session === null) throw new HTTPException(401);
    return session.user;
  });
  app.mount(
    "/api/auth",
    fromFetchHandler(async (request) => (await made).handler(request)),
  );
  app.get("/me", { params: { user: Depends(currentUser) } }, async ({ user }) => ({ email: user.email }));
  return app;
}

const slowly = IS_SLOW ? describe : describe.skip;

slowly("better-auth below a prefix (only with TSGI_SLOW=1)", () => {
  const ADA = { email: "ada@example.com", password: "correct horse", name: "Ada" };
  let server: RunningServer;

  const post = (route: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/auth${route}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: server.url, ...headers },
      body: JSON.stringify(body),
    });
  const cookiesOf = (response: globalThis.Response) =>
    response.headers
      .getSetCookie()
      .map((line) => line.split(";", 1)[0])
      .join("; ");

  beforeAll(async () => {
    const auth = new Deferred<Auth>();
    server = await serve(mounting(auth.promise), { port: 0, signals: false, logger: new KeptLog() });
    auth.resolve(await createAuth(server.url)); // it rejects origins other than the origin of its URL
  });

  afterAll(() => server.close());

  it("signs up, signs in, and provides the session to the other routes", async () => {
    const signedUp = await post("/sign-up/email", ADA);
    expect([signedUp.status, await signedUp.json()]).toEqual([
      200,
      expect.objectContaining({ user: expect.objectContaining({ email: ADA.email }) }),
    ]);

    const signedIn = await post("/sign-in/email", ADA);
    expect(signedIn.status).toBe(200);
    const cookie = cookiesOf(signedIn);
    expect(cookie).toMatch(/^better-auth\.session_token=/);

    const session = await fetch(`${server.url}/api/auth/get-session`, { headers: { cookie } });
    expect(await session.json()).toMatchObject({ user: { email: ADA.email, name: ADA.name } });
    const me = await fetch(`${server.url}/me`, { headers: { cookie } });
    expect([me.status, await me.json()]).toEqual([200, { email: ADA.email }]);

    const out = await post("/sign-out", {}, { cookie });
    expect(out.status).toBe(200);
    expect((await fetch(`${server.url}/me`, { headers: { cookie } })).status).toBe(401);
  });

  it("responds with its own errors", async () => {
    expect((await post("/sign-in/email", { ...ADA, password: "wrong password" })).status).toBe(401);
    expect((await post("/sign-up/email", { email: "no address", password: "x", name: "x" })).status).toBe(400);
    expect((await fetch(`${server.url}/api/auth/none`)).status).toBe(404);
    expect((await fetch(`${server.url}/me`)).status).toBe(401);
  });
});
