/** 1,000 routes with schemas on Hono, with the Zod validator of its documentation, which has none for answers. @module */
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";

export const kind = "fetch";

export function register(routes) {
  const app = new Hono();
  for (let index = 0; index < routes; index += 2) {
    const Item = z.object({ name: z.string().min(1), count: z.int().min(0), tags: z.array(z.string()) });
    app.get(
      `/things${index}/:id`,
      zValidator("param", z.object({ id: z.coerce.number().int() })),
      zValidator("query", z.object({ limit: z.coerce.number().int().max(100).default(10) })),
      (c) => c.json({ id: c.req.valid("param").id, name: "thing", count: c.req.valid("query").limit, tags: [] }),
    );
    app.post(`/things${index}`, zValidator("json", Item), (c) => c.json({ id: index, ...c.req.valid("json") }, 201));
  }
  return app.fetch;
}
