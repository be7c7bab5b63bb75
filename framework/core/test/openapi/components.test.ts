import { describe, expect, it } from "@jest/globals";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { App } from "../../src/app/app.js";
import { Body } from "../../src/parameters/body.js";
import { type Schema, t } from "../../src/schema/schema.js";
import type { OpenAPIDocument, SchemaObject } from "../../src/openapi/types.js";
import { faultsOf } from "./_documents.js";

interface Uses {
  readonly input?: readonly Schema[];
  readonly output?: readonly Schema[];
}

/** The document of routes that take and give these schemas. */
function documentOf({ input = [], output = [] }: Uses): OpenAPIDocument {
  const app = new App();
  for (const [index, schema] of input.entries())
    app.post(`/in/${index}`, { params: { body: Body(schema) } }, async () => null);
  for (const [index, schema] of output.entries())
    app.get(`/out/${index}`, { returns: schema }, async () => null as never);
  return app.openapi();
}

/** The application's own components, without the components of the framework's 422. */
function componentsOf(uses: Uses): Record<string, SchemaObject> {
  const schemas = Object.entries(documentOf(uses).components?.schemas ?? {});
  return Object.fromEntries(schemas.filter(([name]) => !/^(?:HTTP)?ValidationError/.test(name)));
}

const inputOf = (document: OpenAPIDocument, index = 0) =>
  document.paths[`/in/${index}`]?.post?.requestBody?.content["application/json"]?.schema;
const outputOf = (document: OpenAPIDocument, index = 0) =>
  document.paths[`/out/${index}`]?.get?.responses["200"]?.content?.["application/json"]?.schema;

describe("a schema with a name", () => {
  it("is one component, referred to from everywhere", async () => {
    const User = t.Object({ name: t.String() }, { $id: "User" });
    const document = documentOf({
      input: [User, t.Array(User)],
      output: [t.Object({ user: User, other: t.Optional(User) })],
    });
    const reference = { $ref: "#/components/schemas/User" };
    expect(inputOf(document)).toEqual(reference);
    expect(inputOf(document, 1)).toEqual({ type: "array", items: reference });
    expect(outputOf(document)).toEqual({
      type: "object",
      properties: { user: reference, other: reference },
      required: ["user"],
    });
    expect(await faultsOf(document)).toEqual([]);
  });

  it.each([
    ["$id", t.Object({}, { $id: "User" }), "User"],
    ["the last part of an $id that is a URL", t.Object({}, { $id: "https://example.com/schemas/user.json" }), "user"],
    ["the last part of an $id that is a URN", t.Object({}, { $id: "urn:example:user" }), "user"],
    ["$id, before its title", t.Object({}, { $id: "User", title: "Somebody" }), "User"],
    ["title, as one word", t.Object({}, { title: "A user's name!" }), "AUserSName"],
    ["the $id of an enum", t.Union([t.Literal("a"), t.Literal("b")], { $id: "Letter" }), "Letter"],
    [
      "the title of a union",
      t.Union([t.Object({ a: t.String() }), t.Object({ b: t.String() })], { title: "Either" }),
      "Either",
    ],
    ["the title of an intersection", t.Intersect([t.Object({}), t.Object({})], { title: "Both" }), "Both"],
    ["its name in a module", t.Module({ Leaf: t.Object({ a: t.String() }) }).Import("Leaf"), "Leaf"],
    ["Zod's id", z.object({}).meta({ id: "ZodUser", title: "A user" }), "ZodUser"],
    ["Zod's id with a slash", z.object({}).meta({ id: "shop/user" }), "ShopUser"],
    ["Zod's id with a tilde", z.object({}).meta({ id: "shop~user" }), "ShopUser"],
    ["Zod's id with a bare percent sign", z.object({}).meta({ id: "100% user" }), "100User"],
    ["Zod's id that looks encoded", z.object({}).meta({ id: "shop%20user" }), "ShopUser"],
    ["Valibot's title", toStandardJsonSchema(v.pipe(v.object({}), v.title("ValibotUser"))), "ValibotUser"],
    [
      "its route, where it contains itself and has no name",
      scope({ Branch: { "next?": "Branch" } }).export().Branch,
      "GetOut0Response",
    ],
  ])("is called by %s", (_rule, schema, name) => {
    const document = documentOf({ output: [schema] });
    expect(Object.keys(document.components?.schemas ?? {})).toEqual([name]);
    expect(outputOf(document)).toEqual({ $ref: `#/components/schemas/${name}` });
  });

  it("does not repeat its name as a title, and keeps another title", () => {
    const Note = t.Object({ pinned: t.Boolean({ default: false }) }, { title: "Note" });
    const schemas = componentsOf({ input: [Note], output: [Note, t.Object({}, { $id: "User", title: "A user" })] });
    const titles = Object.entries(schemas).map(([name, { title }]) => [name, title]);
    expect(titles).toEqual([
      ["Note", undefined],
      ["NoteInput", undefined],
      ["User", "A user"],
    ]);
  });

  it.each([
    ["a title of a scalar", t.String({ title: "Name" })],
    ["a title of a list", t.Array(t.String(), { title: "Names" })],
    ["no name", t.Object({})],
  ])("is not created for %s", (_name, schema) => {
    expect(componentsOf({ output: [schema] })).toEqual({});
  });
});

describe("input and output", () => {
  const Plain = t.Object({ a: t.String() }, { $id: "Plain" });
  const Defaulted = t.Object({ a: t.String(), b: t.Boolean({ default: false }) }, { $id: "Defaulted" });

  it("are one component if they do not differ", () => {
    expect(Object.keys(componentsOf({ input: [Plain], output: [Plain] }))).toEqual(["Plain"]);
  });

  it("are two components if a default makes them differ", () => {
    const schemas = componentsOf({ input: [Defaulted], output: [Defaulted] });
    expect(schemas["Defaulted"]?.required).toEqual(["a", "b"]);
    expect(schemas["DefaultedInput"]?.required).toEqual(["a"]);
  });

  it("are two components if a nested default makes them differ", () => {
    const Outer = t.Object({ inner: t.Array(Defaulted) }, { $id: "Outer" });
    const schemas = componentsOf({ input: [Outer], output: [Outer] });
    expect(schemas["OuterInput"]?.properties?.["inner"]?.items).toEqual({
      $ref: "#/components/schemas/DefaultedInput",
    });
    expect(schemas["Outer"]?.properties?.["inner"]?.items).toEqual({ $ref: "#/components/schemas/Defaulted" });
  });

  it("have the plain name if only one of them is used", () => {
    expect(Object.keys(componentsOf({ input: [Defaulted] }))).toEqual(["Defaulted"]);
    expect(Object.keys(componentsOf({ output: [Defaulted] }))).toEqual(["Defaulted"]);
  });

  it("are one component if only the input rejects additional properties, which it documents", () => {
    const Strict = t.Object({ a: t.String() }, { $id: "Strict", additionalProperties: false });
    expect(componentsOf({ input: [Strict], output: [Strict] })).toEqual({
      Strict: { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
    });
  });

  it("are the same if the output is registered first", () => {
    const Strict = t.Object({ a: t.String() }, { $id: "Strict", additionalProperties: false });
    const app = new App();
    app.get("/", { returns: Strict }, async () => ({ a: "" }));
    app.post("/", { params: { strict: Strict } }, async () => null);
    expect(app.openapi().components?.schemas?.["Strict"]?.additionalProperties).toBe(false);
  });

  it.each([
    ["Zod", z.object({ a: z.string(), b: z.array(z.object({ c: z.int() })) }).meta({ id: "ZodPlain" }), "ZodPlain"],
    ["Valibot", toStandardJsonSchema(v.pipe(v.object({ a: v.string() }), v.title("ValibotPlain"))), "ValibotPlain"],
  ])("of %s are one component if they do not differ", (_library, schema, name) => {
    expect(Object.keys(componentsOf({ input: [schema], output: [schema] }))).toEqual([name]);
  });

  it.each([
    ["Zod", z.object({ b: z.int().default(1) }).meta({ id: "ZodDefaulted" })],
    ["Valibot", toStandardJsonSchema(v.pipe(v.object({ b: v.optional(v.number(), 1) }), v.title("ValibotDefaulted")))],
  ])("of %s are two components if a default makes them differ", (_library, schema) => {
    const required = Object.values(componentsOf({ input: [schema], output: [schema] })).map((one) => one.required);
    expect(required).toEqual([["b"], undefined]);
  });
});

describe("recursive object schemas", () => {
  it.each([
    ["TypeBox", t.Recursive((Self) => t.Object({ next: t.Optional(Self) }), { $id: "Tree" }), "Tree"],
    ["TypeBox without a name", t.Recursive((Self) => t.Object({ next: t.Optional(Self) })), "Body"],
    ["TypeBox's module", t.Module({ Leaf: t.Object({ next: t.Optional(t.Ref("Leaf")) }) }).Import("Leaf"), "Leaf"],
    [
      "Zod",
      (() => {
        const Node: z.ZodType = z.object({ next: z.lazy(() => Node).optional() });
        return Node;
      })(),
      "Body",
    ],
  ])("of %s refer to their component", async (_library, schema, name) => {
    const document = documentOf({ input: [schema], output: [schema] });
    const reference = { $ref: `#/components/schemas/${name}` };
    expect([inputOf(document), outputOf(document)]).toEqual([reference, reference]);
    expect(document.components?.schemas?.[name]?.properties).toEqual({ next: reference });
    expect(await faultsOf(document)).toEqual([]);
  });

  it("refer to each other", async () => {
    const Module = t.Module({
      Author: t.Object({ books: t.Array(t.Ref("Book")) }),
      Book: t.Object({ author: t.Ref("Author"), pages: t.Integer({ default: 1 }) }),
    });
    const document = documentOf({ input: [Module.Import("Author")], output: [Module.Import("Book")] });
    expect(Object.keys(document.components?.schemas ?? {})).toEqual([
      "Author",
      "AuthorInput",
      "Book",
      "BookInput",
      "HTTPValidationError",
      "ValidationError",
      "ValidationErrorInput",
      "ValidationErrorLocation",
    ]);
    expect(await faultsOf(document)).toEqual([]);
  });
});

describe("two schemas with one name", () => {
  it("are one component if they are the same", () => {
    const create = () => t.Object({ a: t.Union([t.Literal("x"), t.Literal("y")]) }, { $id: "Same" });
    expect(Object.keys(componentsOf({ input: [create(), create()] }))).toEqual(["Same"]);
  });

  it("are the same in any order", () => {
    const one = t.Object({ a: t.String(), b: t.String() }, { $id: "Same" });
    const other = t.Object({ b: t.String(), a: t.String() }, { $id: "Same" });
    expect(Object.keys(componentsOf({ input: [one, other] }))).toEqual(["Same"]);
  });

  it("are rejected when it is an $id", () => {
    const schemas = [t.Object({ a: t.String() }, { $id: "User" }), t.Object({ b: t.String() }, { $id: "User" })];
    expect(() => documentOf({ output: schemas })).toThrow(
      'GET /out/1: the schema with the $id "User" is also used by a different schema of GET /out/0.',
    );
  });

  it("are numbered when it is a title", () => {
    const User = t.Object({ a: t.String(), b: t.String() }, { title: "User" });
    expect(Object.keys(componentsOf({ input: [t.Partial(User), t.Pick(User, ["a"])], output: [User] }))).toEqual([
      "User",
      "UserInput",
      "UserInput2",
    ]);
  });

  it("are called after the parts that set them apart when it is a title", async () => {
    const envelope = (data: Schema) =>
      t.Object({ data: data as never, errors: t.Array(Problem) }, { title: "Envelope" });
    const Problem = t.Object({ detail: t.String() }, { title: "Problem" });
    const User = t.Object({ name: t.String() }, { $id: "User" });
    const Draft = t.Object({ text: t.String({ default: "" }) }, { title: "Draft" });
    const document = documentOf({ input: [envelope(Draft)], output: [envelope(User), envelope(Draft)] });
    const names = Object.keys(document.components?.schemas ?? {}).filter((name) => name.includes("Envelope"));
    expect(names).toEqual(["DraftEnvelope", "DraftEnvelopeInput", "UserEnvelope"]);
    expect(document.components?.schemas?.["UserEnvelope"]).not.toHaveProperty("title");
    expect(await faultsOf(document)).toEqual([]);
  });

  it("keep a title if it is enough to distinguish them, and get numbers otherwise", () => {
    const envelope = (...data: Schema[]) => t.Object({ data: t.Tuple(data as never) }, { title: "Envelope" });
    const A = t.Object({ a: t.String() }, { $id: "A" });
    const B = t.Object({ b: t.String() }, { $id: "B" });
    expect(Object.keys(componentsOf({ output: [envelope(A)] }))).toEqual(["A", "Envelope"]);
    const names = Object.keys(componentsOf({ output: [envelope(A), envelope(A, B), envelope(t.String())] }));
    expect(names).toEqual(["A", "B", "Envelope", "Envelope2", "Envelope3"]);
  });

  it("give way to the one whose $id it is", () => {
    const schemas = [t.Object({ a: t.String() }, { title: "User" }), t.Object({ b: t.String() }, { $id: "User" })];
    const named = componentsOf({ output: schemas });
    expect(named["User"]?.properties).toHaveProperty("b");
    expect(named["User2"]?.properties).toHaveProperty("a");
  });

  it("are renamed if the application uses the name, including ValidationError", async () => {
    const Own = t.Object({ why: t.String() }, { $id: "ValidationError" });
    const document = documentOf({ input: [Own] });
    expect(inputOf(document)).toEqual({ $ref: "#/components/schemas/ValidationError" });
    expect(document.components?.schemas?.["ValidationError"]?.properties).toHaveProperty("why");
    expect(document.components?.schemas?.["ValidationError2"]?.properties).toHaveProperty("loc");
    expect(await faultsOf(document)).toEqual([]);
  });

  it("never take a name that another schema bears", () => {
    const Defaulted = t.Object({ b: t.Boolean({ default: false }) }, { $id: "User" });
    const Other = t.Object({ c: t.String() }, { $id: "UserInput" });
    expect(Object.keys(componentsOf({ input: [Defaulted, Other], output: [Defaulted] }))).toEqual([
      "User",
      "UserInput",
      "UserInput2",
    ]);
  });
});

describe("a reference", () => {
  it("to a nullable component becomes a union with null", () => {
    const User = t.Object({ a: t.String() }, { $id: "User" });
    const reference = { $ref: "#/components/schemas/User" };
    const document = documentOf({ output: [t.Union([User, t.Null()])] });
    expect(outputOf(document)).toEqual({ anyOf: [reference, { type: "object", nullable: true, enum: [null] }] });
  });

  it("with additional keywords is wrapped", () => {
    const schema = z.object({ owner: z.object({ id: z.int() }).meta({ id: "Wrapped" }).describe("Whose it is") });
    const document = documentOf({ output: [schema] });
    expect(Object.keys(document.components?.schemas ?? {})).toEqual(["Wrapped"]);
    expect(outputOf(document)?.properties?.["owner"]).toMatchObject({ description: "Whose it is" });
  });

  it("to a missing component is rejected", () => {
    const schema = z.unknown();
    const standard = {
      ...schema["~standard"],
      jsonSchema: { input: () => ({}), output: () => ({ $ref: "#/$defs/None" }) },
    };
    expect(() => documentOf({ output: [{ "~standard": standard }] })).toThrow(/"#\/\$defs\/None" cannot be resolved/);
  });
});
