/** The database routes on Elysia with its adapter for Node. @module */
import { node } from "@elysiajs/node";
import { Elysia, t } from "elysia";
import { announceOn, freePort } from "../http/elysia-port.js";
import { COOKIE, COOKIE_NAME, findAccount, listItems, logIn, tokenOf } from "./accounts.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const World = t.Object({ id: t.Integer(), randomnumber: t.Integer() });
const many = {
  query: t.Object({ queries: t.Integer({ minimum: 1, maximum: 500, default: 1 }) }),
  response: t.Array(World),
};
const Item = t.Object({ id: t.Integer(), name: t.String(), owner: t.String() });
const Problem = t.Object({ detail: t.String() });
const Token = t.Object({ access_token: t.String(), token_type: t.String() });
const refuse = (status) => status(401, { detail: "Unauthorized" });
const db = openDatabase();
const port = await freePort();

new Elysia({ adapter: node() })
  .get("/health", () => "ok")
  .get("/db", () => findWorld(db), { response: World })
  .get("/queries", ({ query }) => findWorlds(db, query.queries), many)
  .get("/updates", ({ query }) => updateWorlds(db, query.queries), many)
  // The adapter overwrites the type of a text, and keeps that of a Response.
  .get("/fortunes", async () => {
    const headers = { "content-type": "text/html; charset=utf-8" };
    return new Response(renderFortunes(await findFortunes(db)), { headers });
  })
  .post(
    "/auth/token",
    async ({ body: { username, password }, cookie, status }) => {
      const session = await logIn(db, username, password);
      if (session === null) return refuse(status);
      cookie[COOKIE_NAME].set({ ...COOKIE, sameSite: "strict", value: session.refreshToken });
      return session.answer;
    },
    { body: t.Object({ username: t.String(), password: t.String() }), response: { 200: Token, 401: Problem } },
  )
  .resolve(async ({ headers, status }) => {
    const account = await findAccount(db, tokenOf(headers.authorization));
    return account === null ? refuse(status) : { account };
  })
  .get("/items", ({ account }) => listItems(db, account), { response: { 200: t.Array(Item), 401: Problem } })
  .listen({ hostname: "127.0.0.1", port });
await announceOn(port);
