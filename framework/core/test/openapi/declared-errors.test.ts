/** Errors that dependencies, routers and Apps declare, in the OpenAPI document. @module */
import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import {
  App,
  ConfigurationError,
  Depends,
  Header,
  HTTPException,
  Path,
  Query,
  Router,
  t,
  withParams,
} from "../../src/index.js";
import { HTTPBearer } from "../../src/parameters/security/http.js";
import { call } from "../../../test/support/call.js";
import { faultsOf, operation } from "./_documents.js";

const problem = (name: string) => t.Object({ detail: t.Literal(name) }, { $id: name });
const [Unauthorized, NotFound, Locked, Limited, Away, Conflict] = [
  problem("Unauthorized"),
  problem("NotFound"),
  problem("Locked"),
  problem("Limited"),
  problem("Away"),
  problem("Conflict"),
];
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const getToken = withParams({ token: Depends(new HTTPBearer()) }, async ({ token }) => token.credentials, {
  responses: { 401: { schema: Unauthorized, description: "Log in first" } },
});
const findItem = withParams(
  { id: Path(t.Integer()), token: Depends(getToken) },
  async ({ id }) => {
    if (id === 0) throw new HTTPException(404, "NotFound");
    return id;
  },
  { responses: { 404: { schema: NotFound }, 423: { schema: Locked } } },
);
const limit = withParams({}, async () => {}, { responses: { 429: { schema: Limited } } });

const PROBLEM = { $ref: "#/components/schemas/ProblemDetails" };

type Version = "3.0" | "3.1" | "3.2";

function create(openapiVersion: Version) {
  const app = new App({ openapiVersion, responses: { 503: { schema: Away } } });
  const router = new Router({ prefix: "/items", responses: { 404: { schema: z.object({ gone: z.boolean() }) } } });
  router.get(
    "/{id}",
    { params: { item: Depends(findItem) }, dependencies: [Depends(limit)], responses: { 409: { schema: Conflict } } },
    async ({ item }) => item,
  );
  app.includeRouter(router, { responses: { 404: { description: "No such item" } } });
  return app;
}

const schemaOf = (app: App, path: string, status: number) =>
  operation(app, path).responses[String(status)]?.content?.["application/json"]?.schema;

describe.each(["3.0", "3.1", "3.2"] as const)("the errors of a route in OpenAPI %s", (version) => {
  it("are the errors of the route, of its router and App, and of its dependencies at any depth", async () => {
    const app = create(version);
    const { responses } = operation(app, "/items/{id}");
    expect(Object.keys(responses)).toEqual(["200", "401", "404", "409", "422", "423", "429", "503"]);
    expect(responses["404"]).toMatchObject({
      description: "No such item",
      content: { "application/json": { schema: { anyOf: [{ type: "object" }, ref("NotFound")] } } },
    });
    for (const [status, name] of [
      [409, "Conflict"],
      [423, "Locked"],
      [429, "Limited"],
      [503, "Away"],
    ] as const) {
      expect(schemaOf(app, "/items/{id}", status)).toEqual(ref(name));
    }
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("have the declared 401 instead of the response of the scheme, with its challenge", () => {
    const { responses } = operation(create(version), "/items/{id}");
    expect(responses["401"]).toEqual({
      description: "Log in first",
      headers: { "WWW-Authenticate": { description: "How to authenticate.", schema: { type: "string" } } },
      content: { "application/json": { schema: ref("Unauthorized") } },
    });
  });
});

describe.each(["3.0", "3.1", "3.2"] as const)("problem details in OpenAPI %s", (openapiVersion) => {
  it("have declared schemas as extension members", async () => {
    const app = new App({ openapiVersion, problemDetails: true, responses: { 500: { description: "Ours" } } });
    const params = { item: Depends(findItem), size: Query(t.Integer()) };
    app.get("/{id}", { params, responses: { 404: { schema: Locked } } }, async ({ item }) => item);
    const { responses } = operation(app, "/{id}");
    const schemas = Object.fromEntries(
      Object.entries(responses).map(([status, { content = {} }]) => [
        status,
        Object.entries(content).map(([type, { schema }]) => [type, schema]),
      ]),
    );
    const type = "application/problem+json";
    expect(schemas).toEqual({
      200: [["application/json", {}]],
      401: [[type, { allOf: [PROBLEM, ref("Unauthorized")] }]],
      404: [[type, { allOf: [PROBLEM, { anyOf: [ref("Locked"), ref("NotFound")] }] }]],
      422: [[type, ref("ValidationProblem")]],
      423: [[type, { allOf: [PROBLEM, ref("Locked")] }]],
      500: [[type, PROBLEM]],
    });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("are the response of a security scheme", () => {
    const app = new App({ openapiVersion, problemDetails: true });
    app.get("/", { params: { token: Depends(new HTTPBearer()) } }, async () => null);
    expect(operation(app, "/").responses["401"]).toMatchObject({
      content: { "application/problem+json": { schema: PROBLEM } },
    });
  });
});

describe("the errors of a route", () => {
  it("have one schema each, even if several declare the same", () => {
    const app = new App({ responses: { 404: { schema: NotFound } } });
    const find = withParams({}, async () => 1, { responses: { 404: { schema: NotFound } } });
    app.get("/", { params: { it: Depends(find) }, responses: { 404: { schema: NotFound } } }, async () => null);
    expect(schemaOf(app, "/", 404)).toEqual(ref("NotFound"));
  });

  it("have the description of the nearest declaration, and the schemas of all", () => {
    const app = new App({ responses: { 409: { schema: Conflict, description: "of the App" } } });
    app.get("/", { responses: { 409: { description: "of the route", schema: Locked } } }, async () => null);
    expect(operation(app, "/").responses["409"]).toEqual({
      description: "of the route",
      content: { "application/json": { schema: { anyOf: [ref("Locked"), ref("Conflict")] } } },
    });
  });

  it("include guards of the App and of routers", () => {
    const app = new App({ dependencies: [Depends(limit)] });
    app.get("/", async () => null);
    expect(schemaOf(app, "/", 429)).toEqual(ref("Limited"));
  });

  it("have a declared 422 instead of the validation error", () => {
    const app = new App();
    const read = withParams({ page: Query(t.Integer()) }, async ({ page }) => page, {
      responses: { 422: { schema: Conflict } },
    });
    app.get("/", { params: { page: Depends(read), size: Query(t.Integer()) } }, async () => null);
    expect(schemaOf(app, "/", 422)).toEqual(ref("Conflict"));
  });

  it("include the errors that a handler declares by withParams", () => {
    const app = new App();
    const handler = withParams({ q: Header() }, async ({ q }) => q, { responses: { 409: { schema: Conflict } } });
    app.get("/", handler);
    expect(schemaOf(app, "/", 409)).toEqual(ref("Conflict"));
  });

  it("do not change the nearest declaration of a success", () => {
    const app = new App({ responses: { 202: { schema: Away } } });
    app.get("/", { responses: { 202: { schema: Locked } } }, async () => null);
    expect(schemaOf(app, "/", 202)).toEqual(ref("Locked"));
  });

  it("are not checked in requests", async () => {
    const app = create("3.1");
    const headers = [["authorization", "Bearer a"]] as const;
    expect(await call(app, "GET", "/items/0", { headers })).toMatchObject({
      status: 404,
      json: { detail: "NotFound" },
    });
    expect(await call(app, "GET", "/items/7", { headers })).toMatchObject({ status: 200, json: 7 });
  });
});

describe("withParams with responses", () => {
  it("throws for an unknown option, and for other responses of the same function", () => {
    const fn = async () => null;
    const params = {};
    expect(() => withParams(params, fn, { response: {} } as never)).toThrow(ConfigurationError);
    withParams(params, fn, { responses: {} });
    expect(() => withParams(params, fn)).toThrow(/already has params/);
  });
});
