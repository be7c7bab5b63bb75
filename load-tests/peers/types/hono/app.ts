import { Hono } from "hono";
import { items0 } from "./items0.js";

export const app = new Hono();
app.route("/items0", items0);
