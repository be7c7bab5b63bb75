import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import type { OpenAPIVersion } from "../../src/openapi/versions.js";
import type { SchemaObject } from "../../src/openapi/types.js";
import { Body } from "../../src/parameters/body.js";
import { File } from "../../src/parameters/file.js";
import { Form } from "../../src/parameters/form.js";
import { Query } from "../../src/parameters/head.js";
import { type Schema, t } from "../../src/schema/schema.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { faultsOf, operation } from "./_documents.js";

const VERSIONS = ["3.0", "3.1", "3.2"] as const;

const nothing = async () => null;

/** The schema of a result, and the components next to it. */
function written(openapiVersion: OpenAPIVersion, returns: Schema) {
  const app = new App({ openapiVersion });
  app.get("/", { returns }, async () => null as never);
  const { content } = operation(app, "/").responses["200"] ?? {};
  return { schema: content?.["application/json"]?.schema, schemas: app.openapi().components?.schemas };
}

describe("the version of the document", () => {
  it.each([
    ["3.0", "3.0.3"],
    ["3.1", "3.1.1"],
    ["3.2", "3.2.0"],
  ] as const)("%s is written as %s", (openapiVersion, openapi) => {
    expect(new App({ openapiVersion }).openapi().openapi).toBe(openapi);
  });

  it("is one of three", () => {
    expect(() => new App({ openapiVersion: "3.0.3" as "3.0" })).toThrow(ConfigurationError);
    expect(() => new App({ openapiVersion: "3.0.3" as "3.0" })).toThrow(/"3\.0", "3\.1" or "3\.2"/);
  });

  it("is served", async () => {
    await using client = await TestClient.open(new App({ openapiVersion: "3.2" }));
    const response = await client.get("/openapi.json");
    expect(JSON.parse(response.text)).toMatchObject({ openapi: "3.2.0" });
  });
});

describe("null", () => {
  it.each([
    ["3.0", { type: "string", nullable: true }],
    ["3.1", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["3.2", { anyOf: [{ type: "string" }, { type: "null" }] }],
  ] as const)("is written in the way of %s", (version, schema) => {
    expect(written(version, t.Union([t.String(), t.Null()])).schema).toEqual(schema);
  });
});

const Cat = t.Object({ kind: t.Literal("cat"), lives: t.Integer() }, { $id: "Cat" });
const Dog = t.Object({ kind: t.Literal("dog") }, { $id: "Dog" });
const MEMBERS = [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }];
const DISCRIMINATOR = {
  propertyName: "kind",
  mapping: { cat: "#/components/schemas/Cat", dog: "#/components/schemas/Dog" },
};

describe.each(VERSIONS)("a discriminated union, in %s", (version) => {
  it.each<[string, Schema, SchemaObject]>([
    ["TypeBox", t.Union([Cat, Dog]), { anyOf: MEMBERS, discriminator: DISCRIMINATOR }],
    [
      "Zod",
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("cat") }).meta({ id: "Cat" }),
        z.object({ kind: z.literal("dog") }).meta({ id: "Dog" }),
      ]),
      { oneOf: MEMBERS, discriminator: DISCRIMINATOR },
    ],
    [
      "TypeBox's module",
      t
        .Module({ Cat, Dog, Pet: t.Union([t.Ref("Cat"), t.Ref("Dog")]), Owner: t.Object({ pet: t.Ref("Pet") }) })
        .Import("Pet"),
      { $ref: "#/components/schemas/Pet" },
    ],
  ])("of %s has a discriminator with the names of the members", (_library, union, schema) => {
    const { schema: result, schemas = {} } = written(version, union);
    expect(result).toEqual(schema);
    expect(schemas["Pet"] ?? result).toHaveProperty("discriminator", DISCRIMINATOR);
  });

  it("has one in a body, in a component that contains itself, and under its title", async () => {
    const app = new App({ openapiVersion: version });
    const Leaf = t.Object({ type: t.Literal("leaf") }, { $id: "Leaf" });
    const Branch = t.Recursive((Self) => t.Object({ type: t.Literal("branch"), next: t.Union([Self, Leaf]) }), {
      $id: "Branch",
    });
    app.post("/", { params: { branch: Branch, pet: Body(t.Union([Cat, Dog], { title: "Pet" })) } }, nothing);
    const { Pet, Branch: branch } = app.openapi().components?.schemas ?? {};
    expect(Pet?.discriminator).toEqual(DISCRIMINATOR);
    expect(branch?.properties?.["next"]?.discriminator).toEqual({
      propertyName: "type",
      mapping: { branch: "#/components/schemas/Branch", leaf: "#/components/schemas/Leaf" },
    });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("refers to the forms of input and output in it", () => {
    const Loud = t.Object({ kind: t.Literal("loud"), level: t.Integer({ default: 1 }) }, { $id: "Loud" });
    const app = new App({ openapiVersion: version });
    const Either = t.Union([Cat, Loud], { $id: "Either" });
    app.post("/", { params: { either: Either }, returns: Either }, async ({ either }) => either);
    const { Either: output, EitherInput: input } = app.openapi().components?.schemas ?? {};
    expect(output?.discriminator?.mapping?.["loud"]).toBe("#/components/schemas/Loud");
    expect(input?.discriminator?.mapping?.["loud"]).toBe("#/components/schemas/LoudInput");
  });

  it("has one even if null is allowed", () => {
    const { schema } = written(version, t.Union([Cat, Dog, t.Null()]));
    expect(JSON.stringify(schema)).toContain(JSON.stringify({ anyOf: MEMBERS, discriminator: DISCRIMINATOR }));
    expect(schema?.anyOf).toHaveLength(2);
  });

  it.each<[string, Schema]>([
    ["a member has no name", t.Union([Cat, t.Object({ kind: t.Literal("dog") })])],
    ["the property is optional", t.Union([Cat, t.Object({ kind: t.Optional(t.Literal("dog")) }, { $id: "Dog" })])],
    [
      "the values are no texts",
      t.Union([t.Object({ kind: t.Literal(1) }, { $id: "One" }), t.Object({ kind: t.Literal(2) }, { $id: "Two" })]),
    ],
    ["two have one value", t.Union([Cat, t.Object({ kind: t.Literal("cat") }, { $id: "Lion" })])],
  ])("has no discriminator if %s", (_reason, union) => {
    expect(written(version, union).schema).not.toHaveProperty("discriminator");
  });
});

describe("a file", () => {
  it.each([
    ["3.0", { type: "string", format: "binary" }],
    ["3.1", { type: "string", format: "binary", contentMediaType: "application/octet-stream" }],
    ["3.2", { type: "string", format: "binary", contentMediaType: "application/octet-stream" }],
  ] as const)("is written in the way of %s", async (openapiVersion, file) => {
    const app = new App({ openapiVersion });
    app.post("/", { params: { one: File(), many: File({ multiple: true }) } }, nothing);
    const { content } = operation(app, "/", "post").requestBody ?? {};
    expect(content?.["multipart/form-data"]?.schema?.properties).toEqual({
      one: file,
      many: { type: "array", items: file },
    });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });
});

describe("remarks on a member of a form", () => {
  it.each([
    ["3.0", { allOf: [{ $ref: "#/components/schemas/Size" }], example: "s" }],
    ["3.1", { $ref: "#/components/schemas/Size", examples: ["s", "m"] }],
  ] as const)("are around its reference in 3.0, and next to it in 3.1 (%s)", (openapiVersion, schema) => {
    const app = new App({ openapiVersion });
    const Size = t.Union([t.Literal("s"), t.Literal("m")], { $id: "Size" });
    const size = Form(Size, { description: "How large.", deprecated: true, examples: ["s", "m"] });
    app.post("/", { params: { size, name: Form() } }, nothing);
    const { content } = operation(app, "/", "post").requestBody ?? {};
    expect(content?.["multipart/form-data"]?.schema?.properties?.["size"]).toEqual({
      ...schema,
      description: "How large.",
      deprecated: true,
    });
  });
});

describe("components that differ only in the keywords next to a reference", () => {
  it("are two", () => {
    const app = new App({ openapiVersion: "3.1" });
    const Owner = () => z.object({ id: z.int() }).meta({ id: "Owner" });
    const first = z.object({ owner: Owner().describe("Whose it is") }).meta({ title: "Thing" });
    const second = z.object({ owner: Owner().describe("Who has it") }).meta({ title: "Thing" });
    app.get("/1", { returns: first }, async () => null as never);
    app.get("/2", { returns: second }, async () => null as never);
    expect(Object.keys(app.openapi().components?.schemas ?? {})).toEqual(["Owner", "Thing", "Thing2"]);
  });
});

describe("a stream", () => {
  const Token = t.Object({ text: t.String() }, { $id: "Token" });
  const reference = { $ref: "#/components/schemas/Token" };

  function appOf(openapiVersion: OpenAPIVersion): App {
    const app = new App({ openapiVersion });
    app.get("/lines", { returns: Token }, async function* lines() {
      yield* [];
    });
    app.get("/events", { stream: "sse", returns: Token }, async function* events() {
      yield* [];
    });
    app.get("/texts", { stream: "sse" }, async function* texts() {
      yield* [];
    });
    return app;
  }
  const contentOf = (app: App, path: string) => operation(app, path).responses["200"]?.content;

  it.each(["3.0", "3.1"] as const)("is text as a whole in %s, and an extension describes a line", async (version) => {
    const app = appOf(version);
    expect(contentOf(app, "/lines")).toEqual({
      "application/jsonl": { schema: { type: "string", description: expect.any(String) }, "x-itemSchema": reference },
    });
    expect(contentOf(app, "/events")).toEqual({ "text/event-stream": { schema: { type: "string" } } });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("has the schema of an item in 3.2", async () => {
    const app = appOf("3.2");
    const others = { event: { type: "string" }, id: { type: "string" }, retry: { type: "integer", minimum: 0 } };
    expect(contentOf(app, "/lines")).toEqual({ "application/jsonl": { itemSchema: reference } });
    expect(contentOf(app, "/events")).toEqual({
      "text/event-stream": {
        itemSchema: {
          type: "object",
          properties: {
            data: { type: "string", contentMediaType: "application/json", contentSchema: reference },
            ...others,
          },
          required: ["data"],
        },
      },
    });
    expect(contentOf(app, "/texts")?.["text/event-stream"]?.itemSchema?.properties?.["data"]).toEqual({
      type: "string",
    });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("without a schema for its items adds no component", async () => {
    const app = new App();
    app.get("/events", { stream: "sse", returns: Token }, async function* events() {
      yield* [];
    });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });
});

describe("a default of a parameter", () => {
  it.each(VERSIONS)("is in its schema in %s", (openapiVersion) => {
    const app = new App({ openapiVersion });
    app.get("/", { params: { limit: Query(t.Integer({ maximum: 9 }), { default: 5 }) } }, nothing);
    const [limit] = operation(app, "/").parameters ?? [];
    expect(limit?.schema).toEqual({ type: "integer", maximum: 9, default: 5 });
  });
});
