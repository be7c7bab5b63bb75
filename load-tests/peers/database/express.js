/** The database routes on Express. @module */
import express from "express";
import { announce } from "../http/announce.js";
import { countOf, findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const db = openDatabase();
const app = express().disable("etag").disable("x-powered-by");
app.get("/db", async (_request, response) => response.json(await findWorld(db)));
app.get("/queries", async ({ query }, response) => response.json(await findWorlds(db, countOf(query.queries))));
app.get("/updates", async ({ query }, response) => response.json(await updateWorlds(db, countOf(query.queries))));
app.get("/fortunes", async (_request, response) => {
  response.type("html").send(renderFortunes(await findFortunes(db)));
});

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
