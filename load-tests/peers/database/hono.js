/** The database routes on Hono's server for Node. @module */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { announce } from "../http/announce.js";
import { countOf, findFortunes, findWorld, findWorlds, openPool, renderFortunes, updateWorlds } from "./queries.js";

const pool = openPool();
const app = new Hono();
app.get("/db", async (c) => c.json(await findWorld(pool)));
app.get("/queries", async (c) => c.json(await findWorlds(pool, countOf(c.req.query("queries")))));
app.get("/updates", async (c) => c.json(await updateWorlds(pool, countOf(c.req.query("queries")))));
app.get("/fortunes", async (c) => c.html(renderFortunes(await findFortunes(pool))));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
