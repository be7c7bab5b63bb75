/** 1,000 routes with schemas on tsgi: half of them take a parameter and a query, half a body; all have a schema of the answer. @module */
import { App, type ASGIApp, t } from "tsgi";

export const kind = "asgi";

export function register(routes: number): ASGIApp {
  const app = new App();
  for (let index = 0; index < routes; index += 2) {
    const fields = { name: t.String({ minLength: 1 }), count: t.Integer({ minimum: 0 }), tags: t.Array(t.String()) };
    const Item = t.Object({ id: t.Integer(), ...fields });
    app.get(
      `/things${index}/{id}`,
      { params: { id: t.Integer(), limit: t.Integer({ default: 10, maximum: 100 }) }, returns: Item },
      async ({ id, limit }) => ({ id, name: "thing", count: limit, tags: [] }),
    );
    app.post(
      `/things${index}`,
      { params: { item: t.Object(fields) }, returns: Item, statusCode: 201 },
      async ({ item }) => ({ id: index, ...item }),
    );
  }
  return app;
}
