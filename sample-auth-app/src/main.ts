/** The application for `tsgi dev`, `tsgi routes` and `tsgi doctor`. Nothing is opened before it is served. */
import { createApp } from "./app.js";
import { readSettings } from "./config.js";

readSettings(); // what is wrong with them is said now

export const app = createApp();
