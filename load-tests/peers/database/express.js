/** The database routes on Express, the form checked with Zod: it has no validation of its own. @module */
import express from "express";
import { z } from "zod";
import { announce } from "../http/announce.js";
import { createApp } from "../http/express-routes.js";
import { COOKIE, COOKIE_NAME, findAccount, listItems, logIn, tokenOf } from "./accounts.js";
import { countOf, findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const db = openDatabase();
const app = createApp();
app.get("/db", async (_request, response) => response.json(await findWorld(db)));
app.get("/queries", async ({ query }, response) => response.json(await findWorlds(db, countOf(query.queries))));
app.get("/updates", async ({ query }, response) => response.json(await updateWorlds(db, countOf(query.queries))));
app.get("/fortunes", async (_request, response) => {
  response.type("html").send(renderFortunes(await findFortunes(db)));
});

const Credentials = z.object({ username: z.string(), password: z.string() });
const refuse = (response) => response.status(401).set("WWW-Authenticate", "Bearer").json({ detail: "Unauthorized" });

async function authenticate({ headers }, response, next) {
  const account = await findAccount(db, tokenOf(headers.authorization));
  response.locals.account = account;
  if (account === null) refuse(response);
  else next();
}

app.post("/auth/token", express.urlencoded(), async ({ body }, response) => {
  const { success, data } = Credentials.safeParse(body);
  if (!success) return response.status(422).json({ detail: "Unprocessable Content" });
  const session = await logIn(db, data.username, data.password);
  if (session === null) return refuse(response);
  // Express counts in milliseconds.
  response.cookie(COOKIE_NAME, session.refreshToken, { ...COOKIE, maxAge: COOKIE.maxAge * 1_000 });
  return response.json(session.answer);
});
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands on what a promise rejects with
app.get("/items", authenticate, async (_request, response) => {
  response.json(await listItems(db, response.locals.account));
});

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
