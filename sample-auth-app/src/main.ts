/** The application for `tsgi dev`, `tsgi routes` and `tsgi doctor`. No connection is opened before it is served. */
import { createApp } from "./app.js";
import { readSettings } from "./config.js";
import { log } from "./logging.js";

readSettings(); // errors in them are reported now

export const app = createApp(log);
