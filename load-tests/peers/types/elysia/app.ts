import { Elysia } from "elysia";
import { items0 } from "./items0.js";

export const app = new Elysia();
app.use(items0);
