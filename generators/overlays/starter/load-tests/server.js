/** The application in a process of its own, which says on which address. */
import { serve } from "tsgi/node";

import { app } from "../dist/app.js";

const { url } = await serve(app, { port: 0 });
process.send?.(url);
