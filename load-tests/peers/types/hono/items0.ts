import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";

const Item = z.object({
  id: z.number().int(),
  name: z.string(),
  price: z.number(),
  tags: z.array(z.string()),
  note: z.string().optional(),
});
const NewItem = z.object({
  name: z.string().min(1),
  price: z.number().min(0),
  tags: z.array(z.string()),
  note: z.string().optional(),
});
const Id = z.object({ id: z.coerce.number().int() });

export const items0 = new Hono()
  .get("/:id", zValidator("param", Id), zValidator("query", z.object({ version: z.coerce.number().int() })), (c) => {
    const { id } = c.req.valid("param");
    const { version } = c.req.valid("query");
    return c.json({ id, version, name: "spade" });
  })
  .get(
    "/:id/history",
    zValidator("param", Id),
    zValidator("query", z.object({ limit: z.coerce.number().int() })),
    (c) => {
      const { id } = c.req.valid("param");
      const { limit } = c.req.valid("query");
      return c.json({ id, limit, changes: ["made"] });
    },
  )
  .post("/", zValidator("json", NewItem), (c) => c.json({ id: 1, ...c.req.valid("json") }))
  .get("/", (c) => {
    const list: z.infer<typeof Item>[] = [{ id: 1, name: "spade", price: 5, tags: ["garden"] }];
    return c.json(list);
  });
