import { Router, t } from "tsgi";

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

export const items0 = new Router({ prefix: "/items0" });

export const readItem = items0.get(
  "/{id}",
  { params: { id: t.Integer(), version: t.Integer() } },
  async ({ id, version }) => ({ id, version, name: "spade" }),
);

export const readHistory = items0.get(
  "/{id}/history",
  { params: { id: t.Integer(), limit: t.Integer() } },
  async ({ id, limit }) => ({ id, limit, changes: ["made"] }),
);

export const addItem = items0.post("", { params: { item: NewItem } }, async ({ item }) => ({ id: 1, ...item }));

export const listItems = items0.get("", { returns: t.Array(Item) }, async () => [
  { id: 1, name: "spade", price: 5, tags: ["garden"] },
]);
