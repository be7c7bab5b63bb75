/** The benchmark routes on h3's own server. @module */
import { serve } from "h3";
import { app } from "../direct/h3.js";
import { announce } from "./announce.js";

const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false });
await server.ready();
announce(new URL(server.url).port);
