/** The benchmark routes on h3, with a Standard Schema (Zod) and `readValidatedBody`. @module */
import { H3, readValidatedBody } from "h3";
import { z } from "zod";

const NewUser = z.object({ name: z.string().min(1), email: z.string(), age: z.int().min(0) });

export const app = new H3();

app.get("/health", () => ({ status: "ok" }));

app.get("/users/:id", (event) => ({ id: event.context.params.id }));

app.post("/users", async (event) => {
  const { name, email, age } = await readValidatedBody(event, NewUser);
  event.res.status = 201;
  return { id: 1, name, email, age };
});

export const kind = "fetch";
export const handle = (request) => app.fetch(request);
