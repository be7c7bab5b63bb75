/** The benchmark routes on Hono, with the Zod validator of its documentation. @module */
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";

const NewUser = z.object({ name: z.string().min(1), email: z.string(), age: z.int().min(0) });

export const app = new Hono();

app.get("/health", (c) => c.json({ status: "ok" }));

app.get("/users/:id", (c) => c.json({ id: c.req.param("id") }));

app.post("/users", zValidator("json", NewUser), (c) => {
  const { name, email, age } = c.req.valid("json");
  return c.json({ id: 1, name, email, age }, 201);
});

export const kind = "fetch";
export const handle = app.fetch;
