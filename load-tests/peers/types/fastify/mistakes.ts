import { type FastifyPluginAsyncTypebox, Type } from "@fastify/type-provider-typebox";

const Id = Type.Object({ id: Type.Integer() });
const Limit = Type.Object({ limit: Type.Integer() });
const NewItem = Type.Object({ name: Type.String() });
const List = Type.Array(Type.Object({ id: Type.Integer() }));
export const plugin: FastifyPluginAsyncTypebox = async (app) => {
  app.get("/:id", { schema: { params: Id } }, async ({ params }) => params.id.length); // wrong
  app.get("/:id/history", { schema: { querystring: Limit } }, async ({ query }) => query.limit.length); // wrong
  app.post("/", { schema: { body: NewItem } }, async ({ body }) => body.size); // wrong
  app.get("/", { schema: { response: { 200: List } } }, async () => [{ id: "1" }]); // wrong
};
