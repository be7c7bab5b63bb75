/** The database routes on Elysia with its adapter for Node. @module */
import { node } from "@elysiajs/node";
import { Elysia, t } from "elysia";
import { announceOn, freePort } from "../http/elysia-port.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const World = t.Object({ id: t.Integer(), randomnumber: t.Integer() });
const many = {
  query: t.Object({ queries: t.Integer({ minimum: 1, maximum: 500, default: 1 }) }),
  response: t.Array(World),
};
const db = openDatabase();
const port = await freePort();

new Elysia({ adapter: node() })
  .get("/health", () => "ok")
  .get("/db", () => findWorld(db), { response: World })
  .get("/queries", ({ query }) => findWorlds(db, query.queries), many)
  .get("/updates", ({ query }) => updateWorlds(db, query.queries), many)
  // The adapter overwrites the type of a text, but keeps the type of a Response.
  .get("/fortunes", async () => {
    const headers = { "content-type": "text/html; charset=utf-8" };
    return new Response(renderFortunes(await findFortunes(db)), { headers });
  })
  .listen({ hostname: "127.0.0.1", port });
await announceOn(port);
