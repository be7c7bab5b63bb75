import { Hono } from "hono";
import { items0 } from "./items0.js";

export const api = new Hono()
  .route("/items0", items0)
;
