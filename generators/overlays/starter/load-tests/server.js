/** Serves the application in a separate process and prints its address. */
import { serve } from "tsgi/node";

import { app } from "../dist/app.js";

const { url } = await serve(app, { port: 0 });
process.send?.(url);
