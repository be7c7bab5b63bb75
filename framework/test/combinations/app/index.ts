/** The library for the command `tsgi`, which finds the App by its name. @module */
import { createApp } from "./app.js";

export const { app } = createApp();
