import { Elysia } from "elysia";
import { area0 } from "./area0.js";

export const api = new Elysia()
  .use(area0)
;
