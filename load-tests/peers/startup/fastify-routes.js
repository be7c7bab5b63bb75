/** 1,000 routes with schemas on Fastify. @module */
import fastify from "fastify";

const fields = () => ({
  name: { type: "string", minLength: 1 },
  count: { type: "integer", minimum: 0 },
  tags: { type: "array", items: { type: "string" } },
});
const integer = { type: "integer" };
const object = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });

export const kind = "inject";

export async function register(routes) {
  const app = fastify();
  for (let index = 0; index < routes; index += 2) {
    const item = object({ id: integer, ...fields() });
    app.get(
      `/things${index}/:id`,
      {
        schema: {
          params: object({ id: integer }),
          querystring: object({ limit: { type: "integer", default: 10, maximum: 100 } }, []),
          response: { 200: item },
        },
      },
      async ({ params: { id }, query: { limit } }) => ({ id, name: "thing", count: limit, tags: [] }),
    );
    app.post(
      `/things${index}`,
      { schema: { body: object(fields()), response: { 201: item } } },
      async ({ body }, reply) => {
        reply.code(201);
        return { id: index, ...body };
      },
    );
  }
  await app.ready();
  return (request) => app.inject(request);
}
