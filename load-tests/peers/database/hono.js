/** The database routes on Hono's server for Node. @module */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { announce } from "../http/announce.js";
import { countOf, findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const db = openDatabase();
const app = new Hono();
app.get("/db", async (c) => c.json(await findWorld(db)));
app.get("/queries", async (c) => c.json(await findWorlds(db, countOf(c.req.query("queries")))));
app.get("/updates", async (c) => c.json(await updateWorlds(db, countOf(c.req.query("queries")))));
app.get("/fortunes", async (c) => c.html(renderFortunes(await findFortunes(db))));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
