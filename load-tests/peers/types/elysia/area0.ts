import { Elysia } from "elysia";
import { items0 } from "./items0.js";

// A chain of 125 modules takes TypeScript to its limit: TS2589.
export const area0 = new Elysia()
  .use(items0)
;
