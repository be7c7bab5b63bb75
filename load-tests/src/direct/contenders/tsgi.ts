/** The benchmark application on tsgi. @module */
import { app } from "../../app.js";

/** This module is an ASGI application. */
export const kind = "asgi";

/** The application. */
export const handle = app;
