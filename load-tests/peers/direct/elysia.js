/** The benchmark routes on Elysia, with its own `t` for bodies and responses. @module */
import { Elysia, t } from "elysia";

const NewUser = t.Object({ name: t.String({ minLength: 1 }), email: t.String(), age: t.Integer({ minimum: 0 }) });
const User = t.Object({ id: t.Integer(), name: t.String(), email: t.String(), age: t.Integer() });

/** @param options - `{ adapter }` for a server on Node. */
export const createApp = (options) =>
  new Elysia(options)
    .get("/health", () => ({ status: "ok" }))
    .get("/users/:id", ({ params: { id } }) => ({ id }))
    .post(
      "/users",
      ({ body: { name, email, age }, set }) => {
        set.status = 201;
        return { id: 1, name, email, age };
      },
      { body: NewUser, response: { 201: User } },
    );

const app = createApp().compile();

export const kind = "fetch";
export const handle = (request) => app.handle(request);
