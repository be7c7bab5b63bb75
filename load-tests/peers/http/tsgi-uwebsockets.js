/** The benchmark application on tsgi's server with uWebSockets.js underneath, which stands beside this program. @module */
import { serve } from "tsgi/node";
import { app } from "../../../load-tests/dist/app.js";
import { announce } from "./announce.js";

const logger = { debug() {}, info() {}, warn: console.warn, error: console.error };
const { url } = await serve(app, { port: 0, loop: "uwebsockets", logger });
announce(new URL(url).port);
