/** The application that is measured. It stores nothing. @module */
import { App, type AppOptions, t } from "tsgi";

const NewUser = t.Object({
  name: t.String({ minLength: 1 }),
  email: t.String(),
  age: t.Integer({ minimum: 0 }),
});

const User = t.Object({ id: t.Integer(), name: t.String(), email: t.String(), age: t.Integer() });

const OrderItem = t.Object({
  sku: t.String({ minLength: 1 }),
  quantity: t.Integer({ minimum: 1 }),
  price: t.Number({ minimum: 0 }),
});

const NewOrder = t.Object({
  customer: t.String({ minLength: 1 }),
  email: t.String(),
  street: t.String(),
  city: t.String(),
  postcode: t.String(),
  country: t.String({ minLength: 2, maxLength: 2 }),
  currency: t.String({ minLength: 3, maxLength: 3 }),
  priority: t.Integer({ minimum: 0, maximum: 9 }),
  discount: t.Number({ minimum: 0, maximum: 100 }),
  gift: t.Boolean(),
  items: t.Array(OrderItem, { minItems: 1 }),
});

const Order = t.Object({ id: t.Integer(), ...NewOrder.properties });

/** The routes of the reference protocol: a minimal handler, a path parameter, a body validated into a struct. */
export function createApp(options: AppOptions = {}): App {
  const app = new App({ title: "Benchmark", ...options });
  app.get("/health", async () => ({ status: "ok" }));
  app.get("/users/{id}", async ({ id }) => ({ id }));
  app.post("/users", { params: { user: NewUser }, returns: User, statusCode: 201 }, async ({ user }) => ({
    id: 1,
    name: user.name,
    email: user.email,
    age: user.age,
  }));
  return app;
}

/** The application of most sections. */
export const app = createApp();

/** A larger body, for direct calls: ten fields and a list of objects. */
app.post("/orders", { params: { order: NewOrder }, returns: Order, statusCode: 201 }, async ({ order }) => {
  const { customer, email, street, city, postcode, country, currency, priority, discount, gift, items } = order;
  return { id: 1, customer, email, street, city, postcode, country, currency, priority, discount, gift, items };
});
