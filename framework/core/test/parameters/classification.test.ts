import { describe, expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  Body,
  compileHandler,
  ConfigurationError,
  Cookie,
  Depends,
  Form,
  Header,
  ParamKind,
  type Params,
  Path,
  Query,
  Request,
  Response,
  t,
  withParams,
} from "../../src/index.js";
import { call } from "../../../test/support/call.js";

const Item = t.Object({ name: t.String() });
const Other = t.Object({ price: t.Number() });
const Shop = t.Module({ Item, Basket: t.Object({ items: t.Array(t.Ref("Item")) }) });

function kindOf(params: Params, path = ""): number | undefined {
  return compileHandler(async () => null, path, params)[0].find((spec) => spec.name === "x")?.kind;
}

/** Registers a route, and returns the error. */
function refusal(params: unknown, path = "/"): string {
  try {
    new App().get(path, { params: params as Params }, async () => null);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error("It was not refused.");
}

describe("a bare schema", () => {
  it("is a path parameter if the pattern contains the name, regardless of its type", () => {
    expect(kindOf({ x: t.Integer() }, "/{x}")).toBe(ParamKind.PATH);
    expect(kindOf({ x: t.Union([t.Literal("a"), t.Literal("b")]) }, "/{x}/b")).toBe(ParamKind.PATH);
  });

  it.each([
    ["an object", Item],
    ["an array of objects", t.Array(Item)],
    ["a tuple of objects", t.Tuple([Item, Other])],
    ["an array of arrays of objects", t.Array(t.Array(Item))],
    ["a record", t.Record(t.String(), t.Integer())],
    ["an array of records", t.Array(t.Record(t.String(), t.Integer()))],
    ["a union of objects", t.Union([Item, Other])],
    ["an object or null", t.Union([Item, t.Null()])],
    ["an intersection of objects", t.Intersect([Item, Other])],
    ["a composite", t.Composite([Item, Other])],
    ["a partial object", t.Partial(Item)],
    ["a reference", Shop.Import("Basket")],
    ["a recursive object", t.Recursive((This) => t.Object({ kids: t.Array(This) }))],
    ["an optional object", t.Optional(Item)],
    ["an object in another library's words", t.Unsafe({ type: ["object", "null"], properties: {} })],
  ])("is the body when it is %s", (_shape, schema) => {
    expect(kindOf({ x: schema })).toBe(ParamKind.BODY);
  });

  it.each([
    ["a string", t.String()],
    ["an integer", t.Integer()],
    ["a date", t.Date()],
    ["an enum", t.Enum({ A: "a", B: "b" })],
    ["an array of scalars", t.Array(t.Integer())],
    ["a union of scalars", t.Union([t.Integer(), t.String()])],
    ["a scalar or null", t.Union([t.Integer(), t.Null()])],
    ["an optional scalar", t.Optional(t.Boolean())],
    ["a template literal", t.TemplateLiteral("v${1|2}")],
  ])("is a query parameter when it is %s", (_shape, schema) => {
    expect(kindOf({ x: schema })).toBe(ParamKind.QUERY);
  });

  it("with `default: null` is rejected, because its type cannot see the null", () => {
    expect(refusal({ x: t.Integer({ default: null }) })).toMatch(/^GET \/: .*"x".*default: null.*Query\(/);
  });

  it("with `default: null` is accepted if null is one of its values", async () => {
    const app = new App();
    app.get("/", { params: { x: t.Union([t.Integer(), t.Null()], { default: null }) } }, async ({ x }) => ({ x }));
    expect((await call(app, "GET", "/")).json).toEqual({ x: null });
  });
});

describe("a parameter function", () => {
  it.each([
    ["Path", Path(), ParamKind.PATH],
    ["Query", Query(Item), ParamKind.QUERY],
    ["Header", Header(), ParamKind.HEADER],
    ["Cookie", Cookie(), ParamKind.COOKIE],
    ["Body", Body(t.Integer()), ParamKind.BODY],
    ["Form", Form(), ParamKind.FORM],
  ])("%s() determines the source of the value", (_name, marker, kind) => {
    expect(kindOf({ x: marker }, "/{x}")).toBe(kind);
  });

  it("accepts a schema, options, or both, and lists them when it rejects others", () => {
    expect(() => (Query as (value: unknown) => unknown)("name")).toThrow(
      /Query\(\) takes a schema, options, or both: Query\(t\.Integer\(\), \{ default: 1 \}\)/,
    );
    expect(() => (Header as (...values: unknown[]) => unknown)({ alias: "x" }, { alias: "y" })).toThrow(
      ConfigurationError,
    );
    expect(() => (Query as (value: unknown) => unknown)(null)).toThrow(
      /For null as the default: Query\(\{ default: null \}\)/,
    );
    expect(() => (Query as (...values: unknown[]) => unknown)(t.Integer(), null)).toThrow(ConfigurationError);
  });

  it("Path() accepts no default", () => {
    expect(() => (Path as (value: unknown) => unknown)({ default: "x" })).toThrow(/Path\(\) takes no default/);
  });

  it("Path() under a name that the whole pattern lacks is rejected", () => {
    expect(refusal({ y: Path(t.Integer()) }, "/items/{x}")).toMatch(/^GET \/items\/\{x\}: .*"y".*Path\(\).*no \{y\}/);
  });

  it("Path() with an alias looks for that name in the pattern", async () => {
    const params: Params = { id: Path(t.Integer(), { alias: "item-id" }) };
    const app = new App();
    app.get("/items/{item-id}", { params }, async (args) => args);
    expect((await call(app, "GET", "/items/7")).json).toMatchObject({ id: 7 });
  });

  it("Body together with Form is rejected, even in dependencies", () => {
    expect(refusal({ a: Body(), b: Form() })).toMatch(/"a".*JSON body.*"b".*form/);
    expect(refusal({ a: Item, b: Form() })).toMatch(/"a".*JSON body.*"b".*form/);
    const dependency = withParams({ b: Form() }, async () => null);
    expect(refusal({ a: Item, d: Depends(dependency) })).toMatch(/"a".*JSON body.*"b".*form/);
  });

  it.each([
    ["a record in a query", Query(t.Record(t.String(), t.String()))],
    ["a list of objects in a query", Query(t.Array(Item))],
    ["a list of lists in a query", Query(t.Array(t.Array(t.String())))],
    ["an object inside a query's object", Query(t.Object({ inner: Item }))],
    ["a union of objects in a header", Header(t.Union([Item, Other]))],
    ["an object in the path", Path(Item)],
    ["a list of objects in a form", Form(t.Array(Item))],
  ])("on a value that cannot be read from a string is rejected: %s", (_case, marker) => {
    expect(refusal({ x: marker }, "/{x}")).toMatch(/"x".*cannot be read from text/);
  });
});

describe("a default that does not fit", () => {
  it.each([
    ["of a parameter function", Query(t.Integer(), { default: "x" as never })],
    ["of a parameter function's bounds", Query(t.Integer({ minimum: 1 }), { default: 0 })],
    ["of a parameter function without schema", (Query as (options: object) => unknown)({ default: 5 })],
    ["of a bare schema", t.Integer({ default: "x" })],
    ["of a schema in a parameter function", Query(t.Integer({ default: "x" }))],
    ["of a property", t.Object({ n: t.Integer({ default: null }) })],
    ["of a property of a property", t.Object({ o: t.Object({ n: t.Integer({ default: 1.5 }) }) })],
    ["of an item", Body(t.Array(t.Object({ n: t.Integer({ default: "1" }) })))],
    ["of a struct that lacks a field", t.Object({ o: t.Object({ n: t.Integer() }, { default: {} }) })],
  ])("%s is rejected at registration", (_case, annotation) => {
    expect(refusal({ x: annotation })).toMatch(/default.*does not fit its schema/);
  });

  it("of `returns` is rejected at registration", () => {
    const register = () =>
      new App().get("/", { returns: t.Object({ n: t.Integer({ default: "x" }) }) }, async () => ({ n: 1 }));
    expect(register).toThrow(/GET \/: .*default.*does not fit its schema/);
  });
});

describe("a schema that has no JSON form", () => {
  it.each([
    ["t.Function", t.Function([], t.String())],
    ["t.Constructor", t.Constructor([], t.Object({}))],
    ["t.Promise", t.Promise(t.String())],
    ["t.Iterator", t.Iterator(t.String())],
    ["t.AsyncIterator", t.AsyncIterator(t.String())],
    ["t.BigInt", t.BigInt()],
    ["t.Symbol", t.Symbol()],
    ["t.Undefined", t.Undefined()],
    ["t.Void", t.Void()],
    ["t.Uint8Array", t.Uint8Array()],
    ["t.RegExp", t.RegExp(/a/)],
  ])("%s is rejected as a parameter, inside an object, and in `returns`", (_name, schema) => {
    expect(refusal({ x: Query(schema) })).toMatch(/no JSON form/);
    expect(refusal({ x: t.Object({ deep: t.Array(schema) }) })).toMatch(/no JSON form/);
    expect(() => new App().get("/", { returns: t.Object({ a: schema }) } as object, async () => null)).toThrow(
      ConfigurationError,
    );
  });

  it("an unknown type, an unresolved reference and an unresolved computed type are rejected", () => {
    expect(refusal({ x: t.Unsafe({ type: "money" }) })).toMatch(/type "money" is not known/);
    expect(refusal({ x: t.Object({ a: t.Ref("Nowhere") }) })).toMatch(/reference "Nowhere" cannot be resolved/);
    expect(refusal({ x: Body(t.Partial(t.Ref("Item"))) })).toMatch(/t\.Module/);
  });

  it("a keyword that would not be checked is rejected", () => {
    expect(refusal({ x: t.Object({ a: t.Optional(t.String()) }, { dependentRequired: { a: ["b"] } }) })).toMatch(
      /dependentRequired/,
    );
    expect(refusal({ x: Body(t.Unsafe({ if: { type: "string" }, else: false })) })).toMatch(/"if"/);
  });

  it("an unknown format is rejected, on text and on numbers, with those that are known", () => {
    expect(refusal({ x: t.String({ format: "phone" }) })).toMatch(/format "phone" is not known.*date-time.*uuid/);
    expect(refusal({ x: t.Integer({ format: "int65" }) })).toMatch(/format "int65" is not known/);
    expect(refusal({ x: t.Object({ a: t.Array(t.String({ format: "phone" })) }) })).toMatch(/"phone"/);
    expect(kindOf({ x: t.Integer({ format: "int64" }) })).toBe(ParamKind.QUERY);
  });

  it("an invalid regular expression is rejected, as a value's and as a key's pattern", () => {
    expect(refusal({ x: t.String({ pattern: "(" }) })).toMatch(/pattern "\(" is not a regular expression/);
    expect(refusal({ x: t.Record(t.String({ pattern: "(" }), t.String()) })).toMatch(/pattern "\(" is not a regular/);
  });

  it("a property named `__proto__` is rejected", () => {
    expect(refusal({ x: t.Object({ ["__proto__"]: t.String() }) })).toMatch(/`__proto__`/);
  });
});

describe("the classes of this request", () => {
  it("are identified by identity", () => {
    expect(kindOf({ x: Request })).toBe(ParamKind.REQUEST);
    expect(kindOf({ x: Response })).toBe(ParamKind.RESPONSE);
    expect(kindOf({ x: BackgroundTasks })).toBe(ParamKind.BACKGROUND);
  });

  it.each(["Request", "Response", "WebSocket", "File"])(
    "the global %s is rejected with the import to write",
    (name) => {
      const known = (globalThis as Record<string, unknown>)[name];
      const globals = globalThis as Record<string, unknown>;
      // Node 20 has no global WebSocket yet.
      if (known === undefined) globals[name] = class {};
      try {
        expect(refusal({ x: globals[name] })).toMatch(
          new RegExp(`"x".*global ${name}.*import \\{ ${name} \\} from "tsgi"`),
        );
      } finally {
        if (known === undefined) delete globals[name];
      }
    },
  );

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a function", () => 1],
    ["text", "string"],
    ["the class String", String],
  ])("anything else is rejected, and the message lists the alternatives: %s", (_case, annotation) => {
    expect(refusal({ x: annotation })).toMatch(/"x".*schema.*parameter function.*Request, Response/);
    expect(refusal({ x: annotation })).not.toMatch(/global/);
  });
});

describe("withParams", () => {
  it("adds to the params of the route", async () => {
    const handler = withParams({ a: t.Integer() }, async (args: { a: number; b?: number }) => args);
    const app = new App();
    app.get("/", { params: { b: t.Integer() } }, handler);
    expect((await call(app, "GET", "/?a=1&b=2")).json).toEqual({ a: 1, b: 2 });
  });

  it("with a name that the route declares too is rejected", () => {
    const handler = withParams({ a: t.Integer() }, async () => null);
    expect(() => new App().get("/", { params: { a: t.String() } }, handler)).toThrow(/GET \/: .*"a" is declared twice/);
  });

  it("a second time with other params is rejected, with the same ones it is not", () => {
    const params = { a: t.Integer() };
    const handler = withParams(params, async () => null);
    expect(withParams(params, handler)).toBe(handler);
    expect(() => withParams({ b: t.Integer() }, handler)).toThrow(ConfigurationError);
  });

  it("returns the same function, and the params of a route are never written onto it", () => {
    const plain = async () => null;
    expect(withParams({}, plain)).toBe(plain);
    const shared = async (args: object) => args;
    const app = new App();
    app.get("/a", { params: { n: t.Integer() } }, shared);
    app.get("/b", { params: { n: t.String() } }, shared);
    expect(compileHandler(shared)[0]).toEqual([]);
  });
});

describe("a name of the pattern that is not declared", () => {
  it("reaches the handler as a string", async () => {
    const app = new App();
    app.get("/{a}/{b}", { params: { b: t.Integer() } }, async (args) => args);
    expect((await call(app, "GET", "/1/2")).json).toEqual({ a: "1", b: 2 });
  });
});
