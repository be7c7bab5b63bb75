/** Serves the benchmark application until it is told to stop. @module */
import { serve } from "tsgi/node";
import { app } from "../../app.js";
import { announce } from "../server-process.js";
import { quietLogger } from "../quiet-logger.js";

const running = await serve(app, { port: 0, logger: quietLogger });
announce(running.url);
