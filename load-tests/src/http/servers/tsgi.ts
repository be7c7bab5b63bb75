/** Serves the benchmark application until it is told to stop. @module */
import { serve } from "tsgi/node";
import { app } from "../../app.js";
import { announce } from "../server-process.js";

const quiet = { debug() {}, info() {}, warn: console.warn, error: console.error };
const running = await serve(app, { port: 0, logger: quiet });
announce(running.url);
