/** The database routes on Hono's server for Node. @module */
import { serve } from "@hono/node-server";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { announce } from "../http/announce.js";
import { COOKIE, COOKIE_NAME, findAccount, listItems, logIn, tokenOf } from "./accounts.js";
import { countOf, findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const db = openDatabase();
const app = new Hono();
app.get("/db", async (c) => c.json(await findWorld(db)));
app.get("/queries", async (c) => c.json(await findWorlds(db, countOf(c.req.query("queries")))));
app.get("/updates", async (c) => c.json(await updateWorlds(db, countOf(c.req.query("queries")))));
app.get("/fortunes", async (c) => c.html(renderFortunes(await findFortunes(db))));

const refuse = (c) => c.json({ detail: "Unauthorized" }, 401, { "WWW-Authenticate": "Bearer" });

const authenticated = createMiddleware(async (c, next) => {
  const account = await findAccount(db, tokenOf(c.req.header("authorization")));
  if (account === null) return refuse(c);
  c.set("account", account);
  return next();
});

app.post("/auth/token", zValidator("form", z.object({ username: z.string(), password: z.string() })), async (c) => {
  const { username, password } = c.req.valid("form");
  const session = await logIn(db, username, password);
  if (session === null) return refuse(c);
  setCookie(c, COOKIE_NAME, session.refreshToken, COOKIE);
  return c.json(session.answer);
});
app.get("/items", authenticated, async (c) => c.json(await listItems(db, c.get("account"))));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
