/** The database routes on Express. @module */
import express from "express";
import { announce } from "../http/announce.js";
import { countOf, findFortunes, findWorld, findWorlds, openPool, renderFortunes, updateWorlds } from "./queries.js";

const pool = openPool();
const app = express();
app.get("/db", async (_request, response) => response.json(await findWorld(pool)));
app.get("/queries", async ({ query }, response) => response.json(await findWorlds(pool, countOf(query.queries))));
app.get("/updates", async ({ query }, response) => response.json(await updateWorlds(pool, countOf(query.queries))));
app.get("/fortunes", async (_request, response) => {
  response.type("html").send(renderFortunes(await findFortunes(pool)));
});

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
