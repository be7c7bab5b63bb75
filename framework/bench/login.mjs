/**
 * The processor time that a session, and a login in it, add to a request, with the store in memory.
 *
 *     npm run build && node framework/bench/login.mjs
 */
import { App, Depends, Request as AppRequest } from "tsgi";
import { memoryStore, sessionOf, sessions } from "tsgi/middleware";
import { oidcLogin } from "@tsgi/login";

const CALLS = 5_000;
const ROUNDS = 9;
const issuer = "https://login.example.com";
const baseURL = "https://shop.example.com";

/** Microseconds of processor time per call. */
async function measure(call) {
  for (let index = 0; index < 500; index++) await call();
  const before = process.cpuUsage();
  for (let index = 0; index < CALLS; index++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

/** An application, and a browser that is logged in. */
async function createShop(options) {
  const login = oidcLogin({ issuer, clientId: "shop", baseURL, ...options });
  const app = new App({ middleware: [sessions({ store: memoryStore() })] });
  app.includeRouter(login.router);
  const params = { request: AppRequest };
  app.get("/begin", { params }, async ({ request }) => {
    const claims = { iss: issuer, sub: "ada", aud: "shop", iat: 1, exp: 2 };
    const name = `login ${issuer} shop ${baseURL}/login/callback`;
    Object.assign(sessionOf(request), { [name]: { sub: "ada", claims, at: Date.now(), sid: "1", id: "1" } });
  });
  app.get("/plain", async () => 1);
  app.get("/session", { params }, async ({ request }) => Object.keys(sessionOf(request)).length);
  app.get("/user", { params: { user: Depends(login.user) } }, async ({ user }) => user.sub);
  const begun = await app.fetch(new Request(`${baseURL}/begin`));
  const headers = { cookie: begun.headers.get("set-cookie").split(";")[0] };
  return (path) => async () => {
    const response = await app.fetch(new Request(baseURL + path, { headers }));
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    return response.text();
  };
}

const [shop, withMarkers] = [await createShop({}), await createShop({ backchannelLogout: true })];
const calls = {
  "with the middleware": shop("/plain"),
  "session read": shop("/session"),
  "login.user": shop("/user"),
  "login.user, backchannelLogout": withMarkers("/user"),
};
const rounds = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, call] of Object.entries(calls)) rounds[name].push(await measure(call));
}
console.table(
  Object.fromEntries(
    Object.entries(rounds).map(([name, times]) => {
      const sorted = times.toSorted((left, right) => left - right);
      return [name, { µs: Number(sorted[ROUNDS >> 1].toFixed(1)), min: Number(sorted[0].toFixed(1)) }];
    }),
  ),
);
