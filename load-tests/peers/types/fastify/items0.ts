import { type FastifyPluginAsyncTypebox, Type } from "@fastify/type-provider-typebox";

const Item = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  price: Type.Number(),
  tags: Type.Array(Type.String()),
  note: Type.Optional(Type.String()),
});
const NewItem = Type.Object({
  name: Type.String({ minLength: 1 }),
  price: Type.Number({ minimum: 0 }),
  tags: Type.Array(Type.String()),
  note: Type.Optional(Type.String()),
});
const Id = Type.Object({ id: Type.Integer() });

export const items0: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    "/items0/:id",
    { schema: { params: Id, querystring: Type.Object({ version: Type.Integer() }) } },
    async ({ params: { id }, query: { version } }) => ({ id, version, name: "spade" }),
  );

  app.get(
    "/items0/:id/history",
    { schema: { params: Id, querystring: Type.Object({ limit: Type.Integer() }) } },
    async ({ params: { id }, query: { limit } }) => ({ id, limit, changes: ["made"] }),
  );

  app.post("/items0", { schema: { body: NewItem } }, async ({ body }) => ({ id: 1, ...body }));

  app.get("/items0", { schema: { response: { 200: Type.Array(Item) } } }, async () => [
    { id: 1, name: "spade", price: 5, tags: ["garden"] },
  ]);
};
