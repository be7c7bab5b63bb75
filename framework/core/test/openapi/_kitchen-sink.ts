import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { App } from "../../src/app/app.js";
import { HTTPException } from "../../src/common/exceptions.js";
import type { OpenAPIVersion } from "../../src/openapi/versions.js";
import { Body } from "../../src/parameters/body.js";
import { Cookie, Header, Path, Query } from "../../src/parameters/head.js";
import { Depends, Security } from "../../src/parameters/depends.js";
import { File } from "../../src/parameters/file.js";
import { Form } from "../../src/parameters/form.js";
import { withParams } from "../../src/parameters/annotation.js";
import { Response } from "../../src/http/response/response.js";
import { Router } from "../../src/routing/router.js";
import { t } from "../../src/schema/schema.js";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery } from "../../src/parameters/security/api-key.js";
import { HTTPBasic, HTTPBearer } from "../../src/parameters/security/http.js";
import { OAuth2PasswordBearer, OAuth2PasswordRequestForm } from "../../src/parameters/security/oauth2.js";

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

const Token = t.Object({ access_token: t.String(), token_type: t.String({ default: "bearer" }) }, { title: "Token" });
const Subscription = t.Object({ callback_url: t.String({ format: "uri" }) }, { $id: "Subscription" });

const oauth2 = new OAuth2PasswordBearer({
  tokenUrl: "/login",
  refreshUrl: "/login/refresh",
  scopes: { me: "Read who you are." },
  description: "With a **name** and a password.",
});
const bearer = new HTTPBearer({ bearerFormat: "JWT", autoError: false });
const basic = new HTTPBasic({ autoError: false });
const cookie = new APIKeyCookie({ name: "session_key", autoError: false });
const key = new APIKeyHeader({ name: "X-API-Key" });
const queryKey = new APIKeyQuery({ name: "api_key", schemeName: "key_in_query" });

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
export function createKitchenSink(openapiVersion: OpenAPIVersion = "3.0"): App {
  const app = new App({
    openapiVersion,
    scalarUrl: "/scalar",
    title: "Kitchen sink",
    version: "1.0.0",
    description: "Everything **at once**.",
    contact: { name: "The cooks", email: "cooks@example.com" },
    license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
    termsOfService: "https://example.com/terms",
    externalDocs: { url: "https://example.com/guide" },
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
      tags: ["security"],
      params: { form: Depends(OAuth2PasswordRequestForm) },
      returns: Token,
    },
    async function login({ form }) {
      return { access_token: form.username, token_type: "bearer" };
    },
  );
  app.get(
    "/me",
    { tags: ["security"], params: { token: Security(oauth2, { scopes: ["me"] }) }, returns: t.String() },
    async function readMe({ token }) {
      return token;
    },
  );
  app.get(
    "/either",
    { tags: ["security"], dependencies: [bearer, basic, cookie].map((scheme) => Depends(scheme)) },
    async function either() {
      return null;
    },
  );
  app.get(
    "/machine",
    { tags: ["security"], params: { key: Depends(key), extra: Depends(queryKey) } },
    async function machine() {
      return null;
    },
  );
  app.post(
    "/survey",
    {
      params: {
        name: Form({ description: "Who answers.", examples: ["ada"] }),
        answers: Form(t.Array(t.Integer({ minimum: 1, maximum: 5 })), { default: [] }),
      },
    },
    async function answerSurvey() {
      return {};
    },
  );
  app.post(
    "/photos",
    {
      params: {
        title: Form(),
        photo: File({ description: "The picture.", mediaTypes: ["image/png", "image/jpeg"] }),
        others: File({ multiple: true, default: [] }),
      },
      statusCode: 201,
    },
    async function addPhoto() {
      return {};
    },
  );
  app.post(
    "/subscriptions",
    {
      params: { subscription: Subscription },
      returns: t.Object({ id: t.Integer() }),
      callbacks: {
        userCreated: {
          "{$request.body#/callback_url}": {
            post: {
              params: { user: User, signature: Header({ alias: "X-Signature" }) },
              statusCode: 204,
              responses: { 410: { description: "Send no more" } },
            },
          },
        },
      },
    },
    async function subscribe() {
      return { id: 1 };
    },
  );
  app.get(
    "/export",
    {
      responses: {
        200: {
          content: {
            "text/csv": { schema: t.String(), examples: ["name\nada"] },
            "application/pdf": { schema: t.String({ format: "binary" }) },
          },
          headers: { "Content-Disposition": { schema: t.String() } },
        },
        "4XX": { schema: Problem, examples: [{ detail: "No" }, { detail: "Never" }] },
        default: { schema: Problem },
      },
    },
    async function exportUsers() {
      return new Response("", { mediaType: "text/csv" });
    },
  );
  app.get("/events", { stream: "sse", returns: User }, async function* events() {
    yield* [];
  });
  app.get("/lines", { returns: User }, async function* lines() {
    yield* [];
  });
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
  app.webhooks.post("user.created", {
    tags: ["users"],
    description: "Sent to every subscriber.",
    params: { user: User, signature: Header({ alias: "X-Signature" }) },
    statusCode: 204,
  });
  app.webhooks.put("pet.moved", { params: { pet: Pet }, returns: t.Object({ ok: t.Boolean() }) });
  app.get("/old", { statusCode: 308 }, async () => null);
  app.get("/hidden", { includeInSchema: false }, async () => null);
  app.get("/", async () => ({}));
  return app;
}
