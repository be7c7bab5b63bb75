/** Larger answers, an upload and HTTPS on Hono's server for Node. @module */
import { createServer } from "node:https";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { announce } from "../http/announce.js";
import { countBytes, LARGE, scheme, SMALL, tls } from "./parts.js";

const app = new Hono();
app.get("/health", (c) => c.json({ status: "ok" }));
app.get("/small", (c) => c.json({ items: SMALL }));
app.get("/large", (c) => c.json({ items: LARGE }));
app.post("/upload", async (c) => c.json({ bytes: await countBytes(c.req.raw.body) }));

const secure = tls && { createServer, serverOptions: tls };
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0, ...secure }, ({ port }) => announce(port, scheme));
