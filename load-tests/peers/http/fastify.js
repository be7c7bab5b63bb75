/** The benchmark routes on Fastify's own server. @module */
import { app } from "../direct/fastify.js";
import { announce } from "./announce.js";

await app.listen({ host: "127.0.0.1", port: 0 });
announce(app.server.address().port);
