/** 1,000 routes with schemas on Elysia, with its own `t`. @module */
import { Elysia, t } from "elysia";

export const kind = "fetch";

export function register(routes) {
  const app = new Elysia();
  for (let index = 0; index < routes; index += 2) {
    const fields = { name: t.String({ minLength: 1 }), count: t.Integer({ minimum: 0 }), tags: t.Array(t.String()) };
    const Item = t.Object({ id: t.Integer(), ...fields });
    app.get(
      `/things${index}/:id`,
      ({ params: { id }, query: { limit } }) => ({ id, name: "thing", count: limit, tags: [] }),
      {
        params: t.Object({ id: t.Integer() }),
        query: t.Object({ limit: t.Integer({ default: 10, maximum: 100 }) }),
        response: { 200: Item },
      },
    );
    app.post(
      `/things${index}`,
      ({ body, set }) => {
        set.status = 201;
        return { id: index, ...body };
      },
      { body: t.Object(fields), response: { 201: Item } },
    );
  }
  return (request) => app.handle(request);
}
