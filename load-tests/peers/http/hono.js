/** The benchmark routes on Hono's server for Node. @module */
import { serve } from "@hono/node-server";
import { app } from "../direct/hono.js";
import { announce } from "./announce.js";

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
