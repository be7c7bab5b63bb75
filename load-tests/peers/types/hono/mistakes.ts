import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";

const Id = z.object({ id: z.coerce.number().int() });
const Limit = z.object({ limit: z.coerce.number().int() });
new Hono()
  .get("/:id", zValidator("param", Id), (c) => c.json(c.req.valid("param").id.length)) // wrong
  .get("/:id/history", zValidator("query", Limit), (c) => c.json(c.req.valid("query").limit.length)) // wrong
  .post("/", zValidator("json", z.object({ name: z.string() })), (c) => c.json(c.req.valid("json").size)); // wrong
