/** The benchmark routes on Elysia with its adapter for Node. @module */
import { node } from "@elysiajs/node";
import { createApp } from "../direct/elysia.js";
import { announceOn, freePort } from "./elysia-port.js";

const port = await freePort();
createApp({ adapter: node() }).listen({ hostname: "127.0.0.1", port });
await announceOn(port);
