import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { App } from "../../src/app.js";
import { HTTPException } from "../../src/exceptions.js";
import { Body, Cookie, Depends, Form, Header, Path, Query, withParams } from "../../src/params.js";
import { Response } from "../../src/response.js";
import { Router } from "../../src/router.js";
import { t } from "../../src/schema.js";

const Address = t.Object(
  { street: t.String(), zip: t.Optional(t.String({ pattern: "^\\d{5}$" })) },
  { $id: "Address" },
);

const User = t.Object(
  {
    username: t.String({ minLength: 1, maxLength: 32, description: "Letters and digits.", examples: ["ada"] }),
    email: t.String({ format: "email" }),
    disabled: t.Boolean({ default: false }),
    home: Address,
    work: t.Optional(t.Union([Address, t.Null()])),
    nickname: t.Union([t.String(), t.Null()]),
    joined: t.Date(),
  },
  { $id: "User", description: "Somebody." },
);

const Cat = t.Object({ kind: t.Literal("cat"), lives: t.Integer({ exclusiveMinimum: 0 }) }, { title: "Cat" });
const Dog = t.Object({ kind: t.Literal("dog"), name: t.String() }, { title: "Dog" });
const Pet = t.Union([Cat, Dog], { title: "Pet" });

const Tree = t.Recursive((Self) => t.Object({ value: t.Number(), children: t.Array(Self) }), { $id: "Tree" });

const Problem = t.Object({ detail: t.String() }, { $id: "Problem" });

const ZodItem = z
  .object({
    name: z.string().min(1),
    price: z.number().positive(),
    count: z.number().int().default(1),
    point: z.tuple([z.number(), z.number()]),
    owner: z.object({ id: z.uuid() }).meta({ id: "Owner" }).nullable(),
  })
  .meta({ id: "Item" });
const ZodNode = z.object({
  label: z.string(),
  get next() {
    return z.nullable(ZodNode);
  },
});

const ValibotNote = toStandardJsonSchema(
  v.pipe(
    v.object({ text: v.pipe(v.string(), v.maxLength(200)), pinned: v.optional(v.boolean(), false) }),
    v.title("Note"),
  ),
);

const ArkPoint = type({ x: "number", y: "number", "label?": "'a' | 'b' | null" });
const ArkNode = scope({ Branch: { value: "string", "next?": "Branch" } }).export().Branch;

const getPage = withParams(
  {
    page: Query(t.Integer({ minimum: 1 }), { default: 1, description: "Counts from 1." }),
    size: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 20 }),
  },
  async (page) => page,
);
const getTenant = withParams(
  { tenant: Header({ alias: "X-Tenant", description: "Whose data." }) },
  async ({ tenant }) => tenant,
);

/** Uses every feature that a document describes. */
export function createKitchenSink(): App {
  const app = new App({
    title: "Kitchen sink",
    version: "1.0.0",
    description: "Everything **at once**.",
    servers: [
      { url: "https://api.example.com/{version}", variables: { version: { default: "v1", enum: ["v1", "v2"] } } },
    ],
    tags: [
      { name: "users", description: "Who is who.", externalDocs: { url: "https://example.com/users" } },
      { name: "pets", description: "Cats and dogs." },
    ],
    dependencies: [Depends(getTenant)],
  });

  const users = new Router({ prefix: "/users", tags: ["users"], responses: { 401: { description: "Who are you?" } } });
  users.get("/", { params: { page: Depends(getPage) }, returns: t.Array(User) }, async function listUsers() {
    return [];
  });
  users.post("/", { statusCode: 201, params: { user: User }, returns: User }, async function createUser({ user }) {
    return user;
  });
  users.get(
    "/{user_id}",
    {
      params: { user_id: Path(t.String({ format: "uuid" }), { description: "The user's id." }) },
      returns: User,
      summary: "One user",
      description: "The user, or *404*.",
      operationId: "readUser",
      responses: {
        404: {
          description: "There is none",
          schema: Problem,
          headers: { "X-Reason": { description: "Why", schema: t.String() } },
        },
      },
    },
    async () => {
      throw new HTTPException(404);
    },
  );
  users.put("/{id}", { params: { user: User }, deprecated: true }, async function replaceUser() {
    return null;
  });
  users.delete("/{user_id}", { statusCode: 204 }, async function deleteUser() {
    return new Response(null, { statusCode: 204 });
  });
  app.includeRouter(users);

  const pets = new Router({ prefix: "/pets", tags: ["pets"] });
  pets.post("/", { params: { pet: Pet }, returns: Pet }, async function addPet({ pet }) {
    return pet;
  });
  pets.get(
    "/",
    {
      params: {
        kind: t.Optional(t.Union([t.Literal("cat"), t.Literal("dog")])),
        tags: Query(t.Array(t.String()), { default: [], description: "Any of these.", examples: [["a"], ["a", "b"]] }),
        since: t.Optional(t.Date()),
        filter: Query(t.Object({ color: t.Optional(t.String()), min_age: t.Integer({ default: 0 }) })),
        userAgent: Header({ default: null }),
        session: Cookie({ default: null, deprecated: true }),
        secret: Query({ default: null, includeInSchema: false }),
      },
      returns: t.Object({ pets: t.Array(Pet), next: t.Union([t.String({ format: "uri" }), t.Null()]) }),
    },
    async function findPets() {
      return { pets: [], next: null };
    },
  );
  app.includeRouter(pets);

  app.post(
    "/login",
    {
      params: {
        username: Form(),
        password: Form(t.String({ format: "password" })),
        scopes: Form(t.Array(t.String()), { default: [] }),
      },
    },
    async function login() {
      return {};
    },
  );
  app.post(
    "/contact",
    { params: { form: Form(t.Object({ name: t.String(), text: t.String() }, { $id: "Contact" })) } },
    async () => null,
  );
  app.patch(
    "/orders/{order_id}",
    {
      params: {
        order_id: t.Integer(),
        note: Body({ description: "For the kitchen.", examples: ["rare"] }),
        count: Body(t.Integer(), { default: 1 }),
        address: Address,
      },
      returns: t.Record(t.String(), t.Unknown()),
    },
    async function changeOrder() {
      return {};
    },
  );
  app.put("/label", { params: { label: Body(t.String(), { embed: true }) } }, async () => null);
  app.post("/tree", { params: { tree: Tree }, returns: Tree }, async ({ tree }) => tree);
  app.post("/zod/items", { tags: ["zod"], params: { item: ZodItem }, returns: ZodItem }, async ({ item }) => item);
  app.post("/zod/nodes", { tags: ["zod"], params: { node: ZodNode }, returns: ZodNode }, async ({ node }) => node);
  app.get("/zod/search", { tags: ["zod"], params: { limit: z.number().int().max(50).default(10) } }, async () => null);
  app.post(
    "/valibot/notes",
    { tags: ["valibot"], params: { note: ValibotNote }, returns: ValibotNote },
    async ({ note }) => note,
  );
  app.post(
    "/arktype/points",
    { tags: ["arktype"], params: { point: ArkPoint }, returns: ArkPoint },
    async ({ point }) => point,
  );
  app.post(
    "/arktype/nodes",
    { tags: ["arktype"], params: { node: ArkNode }, returns: ArkNode },
    async ({ node }) => node,
  );
  app.route("/many", { methods: ["GET", "POST", "OPTIONS", "TRACE", "PATCH"] }, async function many() {
    return null;
  });
  app.get("/old", { statusCode: 308 }, async () => null);
  app.get("/hidden", { includeInSchema: false }, async () => null);
  app.get("/", async () => ({}));
  return app;
}
