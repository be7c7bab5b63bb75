/** The database routes on Fastify, with a schema for each response. @module */
import fastify from "fastify";
import { announce } from "../http/announce.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const integer = { type: "integer" };
const objectOf = (properties) => ({ type: "object", required: Object.keys(properties), properties });
const World = objectOf({ id: integer, randomnumber: integer });
const querystring = {
  type: "object",
  properties: { queries: { ...integer, minimum: 1, maximum: 500, default: 1 } },
};
const many = { schema: { querystring, response: { 200: { type: "array", items: World } } } };

const app = fastify();
app.decorate("db", openDatabase());
app.get("/db", { schema: { response: { 200: World } } }, () => findWorld(app.db));
app.get("/queries", many, (request) => findWorlds(app.db, request.query.queries));
app.get("/updates", many, (request) => updateWorlds(app.db, request.query.queries));
app.get("/fortunes", async (_request, reply) => {
  reply.type("text/html; charset=utf-8");
  return renderFortunes(await findFortunes(app.db));
});

await app.listen({ host: "127.0.0.1", port: 0 });
announce(app.server.address().port);
