/** The application that is measured. It has no storage. @module */
import { App, t } from "tsgi";

const NewUser = t.Object({
  name: t.String({ minLength: 1 }),
  email: t.String(),
  age: t.Integer({ minimum: 0 }),
});

const User = t.Object({ id: t.Integer(), name: t.String(), email: t.String(), age: t.Integer() });

/** The routes of the reference protocol: a minimal handler, a path parameter, a body validated into a struct. */
export const app = new App({ title: "Benchmark" });
app.get("/health", async () => ({ status: "ok" }));
app.get("/users/{id}", async ({ id }) => ({ id }));
app.post("/users", { params: { user: NewUser }, returns: User, statusCode: 201 }, async ({ user }) => ({
  id: 1,
  name: user.name,
  email: user.email,
  age: user.age,
}));
