/** The benchmark routes on Hono, on the runtime's own server. @module */
import { app } from "../direct/hono.js";
import { serveFetch } from "./serve-fetch.js";

serveFetch(app.fetch);
