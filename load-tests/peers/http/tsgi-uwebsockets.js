/** The benchmark application on tsgi's server with uWebSockets.js, which is installed next to this program. @module */
import { loopName } from "tsgi/concurrency";
import { serve } from "tsgi/node";
import { app } from "../../../load-tests/dist/app.js";
import { quietLogger } from "../../../load-tests/dist/http/server-process.js";
import { announce } from "./announce.js";

const { url } = await serve(app, { port: 0, loop: "uwebsockets", logger: quietLogger });
// Without its package, the server runs on another loop.
if (loopName() !== "uwebsockets") throw new Error(`The loop is ${loopName()}.`);
announce(new URL(url).port);
