/** Larger answers, an upload and HTTPS on Fastify, with a schema for each list. @module */
import fastify from "fastify";
import { announce } from "../http/announce.js";
import { BODY_LIMIT, countBytes, LARGE, scheme, SMALL, tls } from "./parts.js";

const text = { type: "string" };
const properties = { id: { type: "integer" }, name: text, email: text, price: { type: "number" } };
const item = { type: "object", properties: { ...properties, active: { type: "boolean" } } };
const list = { type: "object", properties: { items: { type: "array", items: item } } };
const answer = (schema) => ({ schema: { response: { 200: schema } } });

const app = fastify({ bodyLimit: BODY_LIMIT, ...(tls && { https: tls }) });
app.addContentTypeParser("application/octet-stream", (_request, payload, done) => done(null, payload));
app.get("/health", answer({ type: "object", properties: { status: text } }), async () => ({ status: "ok" }));
app.get("/small", answer(list), async () => ({ items: SMALL }));
app.get("/large", answer(list), async () => ({ items: LARGE }));
app.post("/upload", (request) => countBytes(request.body).then((bytes) => ({ bytes })));

await app.listen({ host: "127.0.0.1", port: 0 });
announce(app.server.address().port, scheme);
