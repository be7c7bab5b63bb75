/** Serves the benchmark application until it is told to stop. @module */
import { serve } from "tsgi/node";
import { app } from "../../app.js";
import { announce, quietLogger } from "../server-process.js";

const running = await serve(app, { port: 0, logger: quietLogger });
announce(running.url);
