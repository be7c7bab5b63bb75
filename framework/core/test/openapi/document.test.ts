import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Body } from "../../src/parameters/body.js";
import { Cookie, Header, Path, Query } from "../../src/parameters/head.js";
import { Depends } from "../../src/parameters/depends.js";
import { File } from "../../src/parameters/file.js";
import { Form } from "../../src/parameters/form.js";
import { type Params, withParams } from "../../src/parameters/annotation.js";
import { Request } from "../../src/http/request.js";
import { Router } from "../../src/routing/router.js";
import { t } from "../../src/schema/schema.js";
import { faultsOf, operation } from "./_documents.js";

const nothing = async () => null;

describe("the head of the document", () => {
  it("has defaults for title, version and server, and requires no security", () => {
    expect(new App().openapi()).toEqual({
      openapi: "3.0.3",
      info: { title: "tsgi", version: "0.1.0" },
      servers: [{ url: "/" }],
      security: [],
      paths: {},
    });
  });

  it("contains the options of the App", () => {
    const servers = [{ url: "https://api.example.com", description: "Live" }];
    const document = new App({ title: "Shop", version: "2", description: "*Buy*", servers }).openapi();
    expect(document.info).toEqual({ title: "Shop", version: "2", description: "*Buy*" });
    expect(document.servers).toEqual(servers);
  });

  it("contains contact, license, and external documentation", async () => {
    const about = {
      contact: { name: "Ada", url: "https://example.com/ada", email: "ada@example.com" },
      license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
      termsOfService: "https://example.com/terms",
    };
    const externalDocs = { url: "https://example.com/guide", description: "The guide" };
    const document = new App({ ...about, externalDocs }).openapi();
    expect(document.info).toEqual({ title: "tsgi", version: "0.1.0", ...about });
    expect(document.externalDocs).toEqual(externalDocs);
    expect(await faultsOf(document)).toEqual([]);
  });

  it("lists the tags of the App first, then the others in the order of their use", () => {
    const app = new App({ tags: [{ name: "b", description: "B" }, { name: "unused" }] });
    app.get("/1", { tags: ["c", "b"] }, nothing);
    app.get("/2", { tags: ["a"] }, nothing);
    app.get("/3", { tags: ["hidden"], includeInSchema: false }, nothing);
    expect(app.openapi().tags).toEqual([
      { name: "b", description: "B" },
      { name: "unused" },
      { name: "c" },
      { name: "a" },
    ]);
  });
});

describe("an operation", () => {
  it("contains the options of the route and of the routers around it", () => {
    const app = new App();
    const inner = new Router({ prefix: "/inner", tags: ["inner"], deprecated: true });
    inner.get("/x", { tags: ["x"], summary: "S", description: "D" }, nothing);
    const outer = new Router({ prefix: "/outer", tags: ["outer"], responses: { 418: {} } });
    outer.includeRouter(inner);
    app.includeRouter(outer);
    expect(operation(app, "/outer/inner/x")).toEqual({
      tags: ["outer", "inner", "x"],
      summary: "S",
      description: "D",
      operationId: "getOuterInnerX",
      responses: {
        200: { description: "OK", content: { "application/json": { schema: {} } } },
        418: { description: "I'm a Teapot" },
      },
      deprecated: true,
    });
  });

  it("is left out with includeInSchema: false, on the route or on a router around it", () => {
    const app = new App();
    app.get("/a", { includeInSchema: false }, nothing);
    const router = new Router({ includeInSchema: false });
    router.get("/b", nothing);
    app.includeRouter(router);
    expect(app.openapi().paths).toEqual({});
  });

  it("is left out for a method that a document cannot have", () => {
    const app = new App();
    app.route("/a", { methods: ["GET", "PROPFIND"] }, nothing);
    app.route("/b", { methods: ["PROPFIND"] }, nothing);
    expect(Object.keys(app.openapi().paths)).toEqual(["/a"]);
    expect(Object.keys(app.openapi().paths["/a"] ?? {})).toEqual(["get"]);
  });

  it("has one path for patterns that differ in their names or slashes", async () => {
    const app = new App();
    app.get("/users/{id}/", { params: { id: t.Integer() } }, nothing);
    app.put("users/{user}".replace(/^/, "/"), nothing);
    const { paths } = app.openapi();
    expect(Object.keys(paths)).toEqual(["/users/{id}"]);
    expect(paths["/users/{id}"]?.put?.parameters).toEqual([
      { name: "id", in: "path", required: true, schema: { type: "string" } },
    ]);
    expect(await faultsOf(app.openapi())).toEqual([]);
  });
});

describe("the operation id", () => {
  it.each([
    ["GET", "/", "getRoot"],
    ["GET", "/users/{id}/posts/{post_id}", "getUsersByIdPostsByPostId"],
    ["DELETE", "/users/{userId}", "deleteUsersByUserId"],
    ["POST", "/auth/refresh-token", "postAuthRefreshToken"],
    ["GET", "/v2/HTTPStatus", "getV2HttpStatus"],
    ["GET", "/größe", "getGröße"],
  ])("of %s %s is %s", (method, path, id) => {
    const app = new App();
    app.route(path, { methods: [method] }, nothing);
    const ids = Object.values(app.openapi().paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(ids).toEqual([id]);
  });

  it("gets a number if method and path of two routes result in the same one", () => {
    const app = new App();
    app.get("/a-b", nothing);
    app.get("/a/b", nothing);
    app.get("/a_b", { operationId: "getAB" }, nothing);
    expect(operation(app, "/a-b").operationId).toBe("getAB2");
    expect(operation(app, "/a/b").operationId).toBe("getAB3");
    expect(operation(app, "/a_b").operationId).toBe("getAB");
  });

  it("is created by generateOperationId if the route does not set it", () => {
    const app = new App({
      generateOperationId: ({ method, path, name, tags }) => [method, path, name, ...tags].join("|"),
    });
    app.get("/a", { tags: ["t"] }, async function readA() {});
    app.get("/b", { operationId: "b" }, nothing);
    expect(operation(app, "/a").operationId).toBe("GET|/a|readA|t");
    expect(operation(app, "/b").operationId).toBe("b");
  });

  it("is the name of the route, unless it is not unique or not an identifier", () => {
    const app = new App();
    app.get("/a", { name: "readA" }, nothing);
    app.get("/b", { name: "readA" }, nothing);
    app.get("/c", { name: "read c" }, nothing);
    const ids = ["/a", "/b", "/c"].map((path) => operation(app, path).operationId);
    expect(ids).toEqual(["readA", "getB", "getC"]);
  });

  it("is rejected when two routes choose the same", () => {
    const app = new App();
    app.get("/a", { operationId: "x" }, nothing);
    app.post("/b", { operationId: "x" }, nothing);
    expect(() => app.openapi()).toThrow(ConfigurationError);
    expect(() => app.openapi()).toThrow('POST /b: the operation id "x" is also used by GET /a.');
  });
});

describe("the summary", () => {
  async function readBound() {}

  it.each([
    [async function readItem() {}, "Read item"],
    [async function read_item_2() {}, "Read item 2"],
    [async function getHTTPStatus() {}, "Get http status"],
    [readBound.bind(null), "Read bound"],
    [async () => {}, "Get items by item id"],
    [async function handler() {}, "Get items by item id"],
  ])("of %p is %s", (handler, summary) => {
    const app = new App();
    app.get("/items/{item_id}", handler);
    expect(operation(app, "/items/{item_id}").summary).toBe(summary);
  });
});

describe("parameters", () => {
  it("are listed by their place: path, query, headers, cookies", () => {
    const app = new App();
    app.get(
      "/{a}/{b}",
      {
        params: {
          c: Cookie({ default: null }),
          userAgent: Header({ default: null }),
          token: Header({ alias: "X-Token" }),
          q: t.Integer({ default: 1, minimum: 0 }),
          b: t.Number(),
          request: Request,
        },
      },
      nothing,
    );
    expect(operation(app, "/{a}/{b}").parameters).toEqual([
      { name: "b", in: "path", required: true, schema: { type: "number" } },
      { name: "a", in: "path", required: true, schema: { type: "string" } },
      { name: "q", in: "query", required: false, schema: { type: "integer", default: 1, minimum: 0 } },
      { name: "user-agent", in: "header", required: false, schema: { type: "string" } },
      { name: "x-token", in: "header", required: true, schema: { type: "string" } },
      { name: "c", in: "cookie", required: false, schema: { type: "string" } },
    ]);
  });

  it("carry description, examples, deprecated, and the default of their descriptor", () => {
    const app = new App();
    const schema = t.Integer({ description: "of the schema", default: 1 });
    app.get(
      "/",
      {
        params: {
          a: Query(schema, { description: "A", examples: [2], deprecated: true, default: 3 }),
          b: Query(schema, { examples: [4, 5] }),
          c: Query(t.Optional(t.Date({ examples: ["2020-01-01T00:00:00Z"] }))),
          d: Query(t.Date(), { default: new Date(0) }),
        },
      },
      nothing,
    );
    expect(operation(app, "/").parameters).toEqual([
      {
        name: "a",
        in: "query",
        description: "A",
        required: false,
        deprecated: true,
        schema: { type: "integer", description: "of the schema", default: 3 },
        example: 2,
      },
      {
        name: "b",
        in: "query",
        description: "of the schema",
        required: false,
        schema: { type: "integer", description: "of the schema", default: 1 },
        examples: { 1: { value: 4 }, 2: { value: 5 } },
      },
      {
        name: "c",
        in: "query",
        required: false,
        schema: { type: "string", format: "date-time", example: "2020-01-01T00:00:00Z" },
      },
      {
        name: "d",
        in: "query",
        required: false,
        schema: { type: "string", format: "date-time", default: "1970-01-01T00:00:00.000Z" },
      },
    ]);
  });

  it("are left out with includeInSchema: false, but never one of the path", () => {
    const app = new App();
    const hidden = { includeInSchema: false };
    app.get("/{a}", { params: { a: Path(hidden), b: Query(hidden), c: Header(hidden) } }, nothing);
    expect(operation(app, "/{a}").parameters?.map(({ name }) => name)).toEqual(["a"]);
  });

  it("of the path are always required", () => {
    const app = new App();
    app.get("/{a}", { params: { a: Path(t.Optional(t.String())) } }, nothing);
    expect(operation(app, "/{a}").parameters?.[0]?.required).toBe(true);
  });

  it("are the properties of an object schema, each by its own name", () => {
    const app = new App();
    const Filter = t.Object({
      color: t.String({ description: "As CSS has it" }),
      size: t.Integer({ default: 1 }),
      old: t.Optional(t.Boolean({ deprecated: true })),
    });
    const Extra = z.object({ userAgent: z.string(), limit: z.number().default(5) }).meta({ id: "Extra" });
    app.get(
      "/",
      { params: { filter: Query(Filter), extra: Header(Extra), all: Cookie(Filter, { default: null }) } },
      nothing,
    );
    expect(operation(app, "/").parameters?.map(({ name, in: place, required }) => [place, name, required])).toEqual([
      ["query", "color", true],
      ["query", "size", false],
      ["query", "old", false],
      ["header", "user-agent", true],
      ["header", "limit", false],
      ["cookie", "color", false],
      ["cookie", "size", false],
      ["cookie", "old", false],
    ]);
    expect(operation(app, "/").parameters?.[0]).toEqual({
      name: "color",
      in: "query",
      description: "As CSS has it",
      required: true,
      schema: { type: "string", description: "As CSS has it" },
    });
  });

  it("have the defaults and examples of an object schema of another library", () => {
    const app = new App();
    const Filter = z.object({
      page: z.coerce.number().default(1),
      word: z
        .email()
        .default("a@b.c")
        .meta({ examples: ["d@e.f"] }),
    });
    app.post(
      "/",
      { params: { query: Query(Filter), header: Header(Filter), cookie: Cookie(Filter), form: Form(Filter) } },
      nothing,
    );
    const { parameters = [], requestBody } = operation(app, "/", "post");
    const page = { type: "number", default: 1 };
    const word = expect.objectContaining({ type: "string", format: "email", default: "a@b.c", example: "d@e.f" });
    expect(parameters.map(({ schema }) => schema)).toEqual([page, word, page, word, page, word]);
    expect(requestBody).toHaveProperty(["content", "multipart/form-data", "schema", "properties"], { page, word });
  });

  it("of dependencies are listed too, once for each name, and required when one of them requires it", () => {
    const app = new App();
    const optional = withParams({ page: Query({ default: null }) }, async () => null);
    const required = withParams({ page: Query(), inner: Depends(optional) }, async () => null);
    app.get(
      "/",
      { dependencies: [Depends(optional)], params: { page: Query({ default: "1" }), d: Depends(required) } },
      nothing,
    );
    expect(operation(app, "/").parameters).toEqual([
      { name: "page", in: "query", required: true, schema: { type: "string" } },
    ]);
  });

  it("leave out the headers that a document describes elsewhere", () => {
    const app = new App();
    app.get("/", { params: { accept: Header(), contentType: Header() } }, nothing);
    expect(operation(app, "/")).not.toHaveProperty("parameters");
  });
});

describe("a value that the handler and a dependency read", () => {
  type Markers = readonly [Params[string], Params[string]];

  function create([first, second]: Markers, path = "/"): App {
    const app = new App();
    const dependency = Depends(withParams({ x: first }, async () => null));
    app.post(path, { dependencies: [dependency], params: { x: second } }, nothing);
    return app;
  }
  const parameterOf = (...markers: Markers) => operation(create(markers), "/", "post").parameters?.[0];

  const low = { type: "integer", minimum: 1 };
  const high = { type: "integer", maximum: 9 };
  const Low = t.Integer({ minimum: 1 });
  const High = t.Integer({ maximum: 9 });

  it.each<[how: string, markers: Markers, parameter: object]>([
    ["both schemas", [Query(Low), Query(High)], { required: true, schema: { allOf: [low, high] } }],
    ["one of two equal schemas", [Query(Low), Query(t.Integer({ minimum: 1 }))], { required: true, schema: low }],
    ["the schema of the other one than any string", [Query(), Query(Low)], { required: true, schema: low }],
    [
      "the schema of an array rather than any string",
      [Query(t.Array(t.Integer())), Query()],
      {
        required: true,
        schema: { type: "array", items: { type: "integer" } },
      },
    ],
    [
      "the default of both",
      [Query(Low, { default: 2 }), Query(High, { default: 2 })],
      {
        required: false,
        schema: { allOf: [low, high], default: 2 },
      },
    ],
    [
      "no default if they differ",
      [Query(Low, { default: 2 }), Query(Low, { default: 3 })],
      {
        required: false,
        schema: low,
      },
    ],
    [
      "no default if the other one requires it",
      [Query(t.Integer({ minimum: 1, default: 2 })), Query(High)],
      {
        required: true,
        schema: { allOf: [low, high] },
      },
    ],
    [
      "no default if the other one is optional",
      [Query(t.Optional(Low)), Query(Low, { default: 2 })],
      {
        required: false,
        schema: low,
      },
    ],
    [
      "the first description",
      [Query(Low, { description: "A" }), Query(High, { description: "B" })],
      {
        required: true,
        description: "A",
        schema: { allOf: [low, high] },
      },
    ],
    [
      "the only description",
      [Query(Low), Query(Low, { description: "B" })],
      {
        required: true,
        description: "B",
        schema: low,
      },
    ],
    [
      "the property of an object",
      [Query(t.Object({ x: Low })), Query(High)],
      {
        required: true,
        schema: { allOf: [low, high] },
      },
    ],
  ])("is listed with %s", (_how, markers, parameter) => {
    expect(parameterOf(...markers)).toEqual({ name: "x", in: "query", ...parameter });
  });

  it.each<[place: string, markers: Markers, path: string]>([
    ["path", [Path(Low), Path(High)], "/{x}"],
    ["header", [Header(Low), Header(High)], "/"],
    ["cookie", [Cookie(Low), Cookie(High)], "/"],
  ])("is listed with both schemas in the %s", (place, markers, path) => {
    expect(operation(create(markers, path), path, "post").parameters).toEqual([
      { name: "x", in: place, required: true, schema: { allOf: [low, high] } },
    ]);
  });

  it("is listed with both schemas in a form, in a body and in a member of a body", () => {
    const bodyOf = (markers: Markers) => operation(create(markers), "/", "post").requestBody;
    const x = { allOf: [low, high] };
    const form = { type: "object", properties: { x }, required: ["x"] };
    expect(bodyOf([Form(Low), Form(High)])?.content["multipart/form-data"]?.schema).toEqual(form);
    expect(bodyOf([Body(Low), Body(High)])?.content["application/json"]?.schema).toEqual(x);
    expect(bodyOf([Body(Low, { embed: true }), Body(High)])?.content["application/json"]?.schema).toEqual(form);
  });

  it("is listed with references to the components of both", () => {
    const A = t.String({ $id: "A", minLength: 2 });
    const B = t.String({ $id: "B", maxLength: 5 });
    const app = create([Query(A), Query(B, { default: "abc" })]);
    expect(operation(app, "/", "post").parameters?.[0]?.schema).toEqual({
      allOf: [{ $ref: "#/components/schemas/A" }, { $ref: "#/components/schemas/B" }],
    });
  });

  it.each<[how: string, markers: Markers]>([
    ["an integer and a boolean", [Query(t.Integer()), Query(t.Boolean())]],
    ["a number and an array", [Header(t.Number()), Header(t.Array(t.Number()))]],
    ["a string with a rule and an integer", [Cookie(t.String({ pattern: "^a" })), Cookie(t.Integer())]],
    ["different literals", [Form(t.Literal("a")), Form(t.Union([t.Literal("b"), t.Literal("c")]))]],
    ["a literal and another type", [Query(t.Literal("a")), Query(t.Union([t.Integer(), t.Boolean()]))]],
    ["an object and a string in a body", [Body(t.Object({})), Body(t.String())]],
    ["properties of different types", [Query(t.Object({ x: t.Integer() })), Query(t.Boolean())]],
    ["schemas of another library", [Query(z.int()), Query(z.boolean())]],
  ])("is a ConfigurationError for %s", (_how, markers) => {
    expect(() => create(markers)).toThrow(ConfigurationError);
    expect(() => create(markers)).toThrow('POST /: The parameter "x" (');
    expect(() => create(markers)).toThrow("no value can match all of them");
  });

  it.each<[how: string, markers: Markers]>([
    ["an integer and a number", [Query(t.Integer()), Query(t.Number())]],
    ["a date and a string with a format", [Query(t.Date()), Query(t.String({ format: "date-time" }))]],
    ["a union and one of its members", [Query(t.Union([t.Integer(), t.Boolean(), t.Null()])), Query(t.Boolean())]],
    ["any string and a number", [Query(), Query(t.Number())]],
    ["literals with a common one", [Query(t.Literal("a")), Query(t.Enum({ A: "a", B: "b" }))]],
    ["a reference and its target", [Query(t.Module({ N: t.Integer() }).Import("N")), Query(t.Number())]],
    ["one that the document omits", [Query(t.Integer()), Query(t.Boolean(), { includeInSchema: false })]],
    ["anything", [Query(t.Unknown()), Query(t.Boolean())]],
    ["an intersection and a member", [Query(t.Intersect([t.Integer(), t.Number()])), Query(t.Integer())]],
  ])("can be read as %s", (_how, markers) => {
    expect(() => create(markers)).not.toThrow();
  });
});

describe("a default that is null", () => {
  const OrNull = t.Union([t.Integer(), t.Null()], { default: null });
  const schema = { type: "integer", nullable: true };

  it("is omitted for parameters and for fields of a form, because no string represents null", () => {
    const app = new App();
    const params = {
      a: Query(OrNull),
      b: Header(OrNull),
      c: Cookie(OrNull),
      d: Query(t.Object({ e: OrNull })),
      f: Form(OrNull),
    };
    app.post("/", { params }, nothing);
    const { parameters = [], requestBody } = operation(app, "/", "post");
    expect(parameters.map((parameter) => [parameter.name, parameter.required, parameter.schema])).toEqual([
      ["a", false, schema],
      ["e", false, schema],
      ["b", false, schema],
      ["c", false, schema],
    ]);
    expect(requestBody?.content["multipart/form-data"]?.schema?.properties).toEqual({ f: schema });
  });

  it("is listed for members of a JSON body", () => {
    const app = new App();
    app.post("/", { params: { body: t.Object({ a: OrNull }) } }, nothing);
    const body = operation(app, "/", "post").requestBody?.content["application/json"]?.schema;
    expect(body?.properties).toEqual({ a: { ...schema, default: null } });
  });
});

describe("the body", () => {
  const Item = t.Object({ name: t.String() });
  const itemSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

  it("is the schema of a single parameter", () => {
    const app = new App();
    app.post("/", { params: { item: Body(Item, { description: "It", examples: [{ name: "a" }] }) } }, nothing);
    expect(operation(app, "/", "post").requestBody).toEqual({
      description: "It",
      content: { "application/json": { schema: itemSchema, example: { name: "a" } } },
      required: true,
    });
  });

  it("is not required when its parameter is not", () => {
    const app = new App();
    app.post("/", { params: { item: Body(Item, { default: null }) } }, nothing);
    expect(operation(app, "/", "post").requestBody?.required).toBe(false);
  });

  it("is an object of several parameters, and of one with embed", () => {
    const app = new App();
    app.post("/several", { params: { item: Item, note: Body({ default: null, alias: "Note" }) } }, nothing);
    app.post("/one", { params: { item: Body(Item, { embed: true, default: null, deprecated: true }) } }, nothing);
    expect(operation(app, "/several", "post").requestBody).toEqual({
      content: {
        "application/json": {
          schema: { type: "object", properties: { item: itemSchema, Note: { type: "string" } }, required: ["item"] },
        },
      },
      required: true,
    });
    expect(operation(app, "/one", "post").requestBody).toEqual({
      content: {
        "application/json": { schema: { type: "object", properties: { item: { ...itemSchema, deprecated: true } } } },
      },
      required: false,
    });
  });

  it("of a form may be urlencoded or multipart", () => {
    const app = new App();
    const params = { name: Form({ description: "Who" }), age: Form(t.Integer(), { default: 1 }), rest: Form(Item) };
    app.post("/", { params }, nothing);
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer", default: 1 } },
      required: ["name"],
    };
    expect(operation(app, "/", "post").requestBody).toEqual({
      content: {
        "application/x-www-form-urlencoded": {
          schema: { ...schema, properties: { ...schema.properties, name: { type: "string", description: "Who" } } },
        },
        "multipart/form-data": {
          schema: { ...schema, properties: { ...schema.properties, name: { type: "string", description: "Who" } } },
        },
      },
      required: true,
    });
  });

  it("of files is multipart, with their types", () => {
    const app = new App();
    const params = {
      cover: File({ description: "In front", mediaTypes: ["image/png", "image/jpeg"] }),
      pages: File(t.Array(t.Any(), { minItems: 1, maxItems: 9 })),
      more: File({ multiple: true, default: [] }),
      title: Form({ default: null }),
      hidden: File({ default: null, includeInSchema: false }),
    };
    app.post("/", { params }, nothing);
    const file = { type: "string", format: "binary" };
    expect(operation(app, "/", "post").requestBody).toEqual({
      content: {
        "multipart/form-data": {
          schema: {
            type: "object",
            properties: {
              cover: { ...file, description: "In front" },
              pages: { type: "array", items: file, minItems: 1, maxItems: 9 },
              more: { type: "array", items: file },
              title: { type: "string" },
            },
            required: ["cover", "pages"],
          },
          encoding: { cover: { contentType: "image/png, image/jpeg" } },
        },
      },
      required: true,
    });
  });
});

describe("responses", () => {
  it("are the route's status with the schema of `returns`", () => {
    const app = new App();
    app.post("/", { statusCode: 201, returns: t.Array(t.Integer()) }, async () => []);
    expect(operation(app, "/", "post").responses).toEqual({
      201: {
        description: "Created",
        content: { "application/json": { schema: { type: "array", items: { type: "integer" } } } },
      },
    });
  });

  it.each([204, 205, 301, 304, 307])("have no content at %d", (statusCode) => {
    const app = new App();
    app.get("/", { statusCode }, nothing);
    expect(Object.values(operation(app, "/").responses)).toEqual([{ description: expect.any(String) }]);
  });

  it.each([
    ["no parameter", {}, false],
    ["text of the path", { a: Path() }, false],
    ["any text of the path", { a: t.String() }, false],
    ["an optional text", { b: Query({ default: null }) }, false],
    ["a required text", { b: Query() }, true],
    ["text of some form", { a: t.String({ minLength: 2 }) }, true],
    ["an enum", { b: t.Optional(t.Union([t.Literal("x"), t.Literal("y")])) }, true],
    ["a number", { a: t.Integer() }, true],
    ["an optional number", { b: t.Integer({ default: 1 }) }, true],
    ["a parameter that is not listed", { b: Query({ includeInSchema: false }) }, true],
    ["a dependency's parameter", { d: Depends(withParams({ b: Query() }, async () => null)) }, true],
    ["the request", { r: Request }, false],
  ])("have a 422 for %s: %j → %s", (_name, params, expected) => {
    const app = new App();
    app.get("/{a}", { params }, nothing);
    expect(Object.hasOwn(operation(app, "/{a}").responses, "422")).toBe(expected);
  });

  it("have a 422 for a body and for a form, however optional", () => {
    const app = new App();
    app.post("/body", { params: { a: Body({ default: null }) } }, nothing);
    app.post("/form", { params: { a: Form({ default: null }) } }, nothing);
    expect(operation(app, "/body", "post").responses).toHaveProperty("422");
    expect(operation(app, "/form", "post").responses).toHaveProperty("422");
  });

  it("describe the 422 as it is sent", () => {
    const app = new App();
    app.get("/", { params: { a: Query() } }, nothing);
    expect(operation(app, "/").responses["422"]).toEqual({
      description: "Unprocessable Entity",
      content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPValidationError" } } },
    });
    const { HTTPValidationError, ValidationError } = app.openapi().components?.schemas ?? {};
    expect(HTTPValidationError?.properties?.["detail"]).toEqual({
      type: "array",
      items: { $ref: "#/components/schemas/ValidationError" },
    });
    expect(Object.keys(ValidationError?.properties ?? {})).toEqual(["type", "loc", "msg", "input"]);
    expect(ValidationError?.required).toEqual(["type", "loc", "msg"]);
  });

  it("include the `responses` of the route, in the order of their status", () => {
    const app = new App();
    const Problem = t.Object({ detail: t.String() }, { $id: "Problem" });
    app.get(
      "/",
      {
        params: { a: Query() },
        returns: t.String(),
        responses: {
          404: { schema: Problem, headers: { "X-Why": { description: "Why", schema: t.Integer() }, "X-Id": {} } },
          200: { description: "Here it is" },
          422: { description: "Wrong", schema: Problem },
        },
      },
      async () => "",
    );
    const problem = { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } };
    expect(operation(app, "/").responses).toEqual({
      200: { description: "Here it is", content: { "application/json": { schema: { type: "string" } } } },
      404: {
        description: "Not Found",
        headers: {
          "X-Why": { description: "Why", schema: { type: "integer" } },
          "X-Id": { schema: { type: "string" } },
        },
        content: problem,
      },
      422: { description: "Wrong", content: problem },
    });
  });
});

describe("a schema that cannot be described", () => {
  it("is a ConfigurationError that contains method and path", () => {
    const app = new App();
    app.get("/fine", nothing);
    app.get("/items", { params: { a: Query(t.Integer(), { examples: [1n] }) } }, nothing);
    expect(() => app.openapi()).toThrow(ConfigurationError);
    expect(() => app.openapi()).toThrow(/^GET \/items: A default or an example has no JSON form/);
  });
});
