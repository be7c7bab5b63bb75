/** Serves the hand-written ASGI function on the same server, until it is told to stop: the framework's own share. @module */
import { serve } from "tsgi/node";
import { handle } from "../../direct/contenders/hand-written.js";
import { announce, quietLogger } from "../server-process.js";

const running = await serve(handle, { port: 0, logger: quietLogger });
announce(running.url);
