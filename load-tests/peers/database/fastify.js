/** The database routes on Fastify, with a schema for each answer. @module */
import formbody from "@fastify/formbody";
import fastify from "fastify";
import { announce } from "../http/announce.js";
import { findAccount, formatCookie, listItems, logIn, tokenOf } from "./accounts.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const integer = { type: "integer" };
const string = { type: "string" };
const objectOf = (properties) => ({ type: "object", required: Object.keys(properties), properties });
const World = objectOf({ id: integer, randomnumber: integer });
const Item = objectOf({ id: integer, name: string, owner: string });
const querystring = {
  type: "object",
  properties: { queries: { ...integer, minimum: 1, maximum: 500, default: 1 } },
};
const many = { schema: { querystring, response: { 200: { type: "array", items: World } } } };

const app = fastify();
app.decorate("db", openDatabase());
app.decorateRequest("account", null);
app.register(formbody);
app.get("/db", { schema: { response: { 200: World } } }, () => findWorld(app.db));
app.get("/queries", many, (request) => findWorlds(app.db, request.query.queries));
app.get("/updates", many, (request) => updateWorlds(app.db, request.query.queries));
app.get("/fortunes", async (_request, reply) => {
  reply.type("text/html; charset=utf-8");
  return renderFortunes(await findFortunes(app.db));
});

const refuse = (reply) => reply.code(401).header("www-authenticate", "Bearer").send({ detail: "Unauthorized" });

const login = {
  body: objectOf({ username: string, password: string }),
  response: { 200: objectOf({ access_token: string, token_type: string }) },
};
app.post("/auth/token", { schema: login }, async ({ body }, reply) => {
  const session = await logIn(app.db, body.username, body.password);
  if (session === null) return refuse(reply);
  reply.header("set-cookie", formatCookie(session.refreshToken));
  return session.answer;
});
app.get("/items", {
  schema: { response: { 200: { type: "array", items: Item } } },
  preHandler: async (request, reply) => {
    request.account = await findAccount(app.db, tokenOf(request.headers.authorization));
    return request.account ?? refuse(reply);
  },
  handler: ({ account }) => listItems(app.db, account),
});

await app.listen({ host: "127.0.0.1", port: 0 });
announce(app.server.address().port);
