/** The benchmark routes on Fastify: JSON Schemas for the body and, as it recommends, for every response. @module */
import fastify from "fastify";

const text = { type: "string" };
const answer = (status, properties) => ({ response: { [status]: { type: "object", properties } } });

// No coercion, for the same work as the others: a JSON string is not an integer, and null is not a string.
export const app = fastify({ ajv: { customOptions: { coerceTypes: false } } });

app.get("/health", { schema: answer(200, { status: text }) }, async () => ({ status: "ok" }));

app.get("/users/:id", { schema: answer(200, { id: text }) }, (request, reply) => reply.send({ id: request.params.id }));

app.post(
  "/users",
  {
    schema: {
      body: {
        type: "object",
        properties: { name: { ...text, minLength: 1 }, email: text, age: { type: "integer", minimum: 0 } },
        required: ["name", "email", "age"],
        additionalProperties: false,
      },
      ...answer(201, { id: { type: "integer" }, name: text, email: text, age: { type: "integer" } }),
    },
  },
  async (request, reply) => {
    const { name, email, age } = request.body;
    reply.code(201);
    return { id: 1, name, email, age };
  },
);

await app.ready();

export const kind = "inject";
export const handle = (request) => app.inject(request);
