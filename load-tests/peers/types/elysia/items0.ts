import { Elysia, t } from "elysia";

const Item = t.Object({
  id: t.Integer(),
  name: t.String(),
  price: t.Number(),
  tags: t.Array(t.String()),
  note: t.Optional(t.String()),
});
const NewItem = t.Object({
  name: t.String({ minLength: 1 }),
  price: t.Number({ minimum: 0 }),
  tags: t.Array(t.String()),
  note: t.Optional(t.String()),
});
const Id = t.Object({ id: t.Integer() });

export const items0 = new Elysia({ prefix: "/items0" })
  .get("/:id", ({ params: { id }, query: { version } }) => ({ id, version, name: "spade" }), {
    params: Id,
    query: t.Object({ version: t.Integer() }),
  })
  .get("/:id/history", ({ params: { id }, query: { limit } }) => ({ id, limit, changes: ["made"] }), {
    params: Id,
    query: t.Object({ limit: t.Integer() }),
  })
  .post("/", ({ body }) => ({ id: 1, ...body }), { body: NewItem })
  .get("/", () => [{ id: 1, name: "spade", price: 5, tags: ["garden"] }], { response: t.Array(Item) });
