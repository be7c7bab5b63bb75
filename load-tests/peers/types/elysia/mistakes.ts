import { Elysia, t } from "elysia";

const Id = t.Object({ id: t.Integer() });
const Limit = t.Object({ limit: t.Integer() });
const List = t.Array(t.Object({ id: t.Integer() }));
new Elysia()
  .get("/:id", ({ params }) => params.id.length, { params: Id }) // wrong
  .get("/:id/history", ({ query }) => query.limit.length, { query: Limit }) // wrong
  .post("/", ({ body }) => body.size, { body: t.Object({ name: t.String() }) }) // wrong
  .get("/", () => [{ id: "1" }], { response: List }); // wrong
