/** The benchmark routes on Elysia: on Bun by its own `listen`, elsewhere on the runtime's server. @module */
import { createApp } from "../direct/elysia.js";
import { announce } from "../http/announce.js";
import { serveFetch } from "./serve-fetch.js";

if ("Bun" in globalThis) {
  createApp().listen({ hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
} else {
  serveFetch(createApp().compile().fetch);
}
