/** The benchmark application on tsgi's server with uWebSockets.js, which is installed next to this program. @module */
import { serve } from "tsgi/node";
import { app } from "../../../load-tests/dist/app.js";
import { quietLogger } from "../../../load-tests/dist/http/server-process.js";
import { announce } from "./announce.js";

const { url } = await serve(app, { port: 0, loop: "uwebsockets", logger: quietLogger });
announce(new URL(url).port);
