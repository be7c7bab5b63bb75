/** Schemas of Zod, Valibot and ArkType, recognized only by Standard Schema. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { describe, expect, it } from "@jest/globals";
import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import {
  App,
  Body,
  compileHandler,
  ConfigurationError,
  Cookie,
  Form,
  Header,
  ParamKind,
  Path,
  Query,
  type StandardSchema,
} from "../../src/index.js";
import { faultLines, probe, returning } from "../../../test/support/probe.js";

const integer = {
  zod: z.int().min(1),
  valibot: toStandardJsonSchema(v.pipe(v.number(), v.integer(), v.minValue(1))),
  arktype: type("number.integer >= 1"),
};
const user = {
  zod: z.object({ name: z.string().min(2), age: z.int().optional(), role: z.enum(["a", "b"]).default("a") }),
  valibot: toStandardJsonSchema(
    v.object({
      name: v.pipe(v.string(), v.minLength(2)),
      age: v.optional(v.pipe(v.number(), v.integer())),
      role: v.optional(v.picklist(["a", "b"]), "a"),
    }),
  ),
  arktype: type({ name: "string >= 2", "age?": "number.integer", role: "'a'|'b' = 'a'" }),
};
const LIBRARIES = ["zod", "valibot", "arktype"] as const;

describe.each(LIBRARIES)("%s", (library) => {
  it("is recognised, a function or not, and a bare schema is a query parameter or the body", () => {
    const kinds = (x: StandardSchema, path = "") => compileHandler(async () => null, path, { x })[0][0]?.kind;
    expect(kinds(integer[library])).toBe(ParamKind.QUERY);
    expect(kinds(integer[library], "/{x}")).toBe(ParamKind.PATH);
    expect(kinds(user[library])).toBe(ParamKind.BODY);
  });

  it("has its text coerced by its JSON Schema, in every source", async () => {
    const schema: StandardSchema = integer[library];
    const params = { p: Path(schema), q: Query(schema), h: Header(schema), c: Cookie(schema), bare: schema };
    const ask = probe(params, { path: "/{p}" });
    const headers = [
      ["h", "3"],
      ["cookie", "c=4"],
    ] as const;
    expect((await ask("/1?q=2&bare=5", { headers })).args).toEqual({ p: 1, q: 2, h: 3, c: 4, bare: 5 });
    expect(faultLines(await ask("/0?q=x"))).toEqual([
      "value_error path.p",
      "value_error query.q",
      "missing header.h",
      "missing cookie.c",
      "missing query.bare",
    ]);
    expect((await probe({ f: Form(schema) })("/", { form: "f=7" })).args).toEqual({ f: 7 });
  });

  it("checks a body, fills in its defaults, and reports errors with their locations", async () => {
    const ask = probe({ body: user[library] });
    expect((await ask("/", { json: { name: "ann" } })).args).toEqual({ body: { name: "ann", role: "a" } });
    const answer = await ask("/", { json: { name: "x", age: "5" } });
    expect(answer.status).toBe(422);
    expect(faultLines(answer).toSorted()).toEqual(["value_error body.age", "value_error body.name"]);
    for (const fault of answer.faults) expect(fault.msg).toMatch(/\w/);
    expect(faultLines(await ask("/"))).toEqual(["missing body"]);
    expect((await ask("/", { json: [] })).status).toBe(422);
  });

  it("reads an object's properties each by its own name", async () => {
    const ask = probe({ q: Query(user[library]) });
    expect((await ask("/?name=ann&age=5&other=1")).args).toMatchObject({ q: { name: "ann", age: 5, role: "a" } });
    expect(faultLines(await ask("/?age=x")).toSorted()).toEqual(["missing query.name", "value_error query.age"]);
  });

  it("in `returns` is checked, and properties outside its JSON Schema are removed", async () => {
    const schema: StandardSchema = user[library];
    const stored = { name: "ann", hashed: "secret", deep: { secret: 1 } };
    const answer = await returning(stored, { returns: schema })();
    expect(answer.json).toEqual({ name: "ann", role: "a" });
    const wrong = await returning({ name: 5 }, { returns: schema })();
    expect(wrong.status).toBe(500);
    expect(wrong.log[0]).toMatch(/^error GET \/result .*name: /);
  });

  it("treats prototype names as data", async () => {
    for (const text of [
      '{"__proto__":{"admin":true},"name":"ann"}',
      '{"constructor":{"prototype":{"admin":true}},"name":"ann"}',
    ]) {
      const answer = await probe({ body: user[library] })("/", { text });
      expect(answer.status).toBe(200);
      expect(answer.args).not.toHaveProperty("body.admin");
      expect(({} as { admin?: unknown }).admin).toBeUndefined();
    }
  });
});

describe("a Standard Schema whose string cannot be converted", () => {
  it.each<[library: string, schema: StandardSchema]>([
    ["Zod", z.int().min(1).catch(1)],
    ["Valibot", toStandardJsonSchema(v.fallback(v.pipe(v.number(), v.minValue(1)), 1))],
  ])("uses the value of %s for an invalid one, in every source", async (_library, schema) => {
    const params = { p: Path(schema), q: Query(schema), h: Header(schema), c: Cookie(schema) };
    const headers = [
      ["h", "x"],
      ["cookie", "c=1.5.0"],
    ] as const;
    const expected = { p: 1, q: 1, h: 1, c: 1 };
    expect((await probe(params, { path: "/{p}" })("/x?q=", { headers })).args).toEqual(expected);
    expect((await probe({ f: Form(schema) })("/", { form: "f=x" })).args).toEqual({ f: 1 });
  });

  it("uses that value for a property of an object and for an item of an array", async () => {
    const ask = probe({
      q: Query(z.object({ page: z.int().catch(1), size: z.int() })),
      ids: Header(z.array(z.number().catch(0))),
    });
    const headers = [["ids", "1, x, 3"]] as const;
    expect((await ask("/?page=x&size=5", { headers })).args).toEqual({ q: { page: 1, size: 5 }, ids: [1, 0, 3] });
  });

  it.each<[library: string, schema: StandardSchema]>([
    ["Zod", z.number({ error: (issue) => `Not a number: ${String(issue.input)}` })],
    ["Valibot", toStandardJsonSchema(v.number((issue) => `Not a number: ${String(issue.input)}`))],
    ["ArkType", type("number").configure({ message: ({ data }) => `Not a number: ${String(data)}` })],
  ])("is reported with the message of %s, which gets the string", async (_library, schema) => {
    const answer = await probe({ n: Query(schema) })("/?n=ten");
    expect(answer.status).toBe(422);
    expect(answer.faults).toEqual([
      { type: "value_error", loc: ["query", "n"], msg: "Not a number: ten", input: "ten" },
    ]);
  });

  it("is passed to a conversion of the library", async () => {
    const params = { n: Query(z.coerce.number()), b: Query(z.coerce.boolean()) };
    expect((await probe(params)("/?n=0x10&b=maybe")).args).toEqual({ n: 16, b: true });
  });

  it("is the first member of a union that accepts it, by its format too", async () => {
    const read = async (schema: StandardSchema, text: string) =>
      (await probe({ x: Query(schema) })(`/?x=${text}`)).args;
    for (const text of [z.string(), z.string().min(1)]) {
      expect(await read(z.union([text, z.number()]), "007")).toEqual({ x: "007" });
      expect(await read(z.union([z.number(), text]), "007")).toEqual({ x: 7 });
    }
    expect(await read(z.union([z.email(), z.number()]), "5")).toEqual({ x: 5 });
    expect(await read(z.union([z.email(), z.number()]), "a@b.example")).toEqual({ x: "a@b.example" });
    expect(await read(z.union([z.number(), z.boolean()]).catch(0), "x")).toEqual({ x: 0 });
  });
});

describe("a Standard Schema", () => {
  it("with a default, optional or nullable, may be absent", async () => {
    const { args } = await probe({
      a: z.int().default(3),
      b: z.string().optional(),
      c: Query(z.string().nullable(), { default: null }),
      d: toStandardJsonSchema(v.optional(v.string(), "x")),
      e: z.object({ n: z.int() }).optional(),
    })("/");
    expect(args).toEqual({ a: 3, b: undefined, c: null, d: "x", e: undefined });
  });

  it("with a function as the default calls it in each request", async () => {
    let count = 0;
    const ask = probe({ a: z.int().default(() => ++count), b: Query(z.object({ n: z.int().default(() => ++count) })) });
    const first = (await ask("/")).args as { a: number };
    const second = (await ask("/")).args as { a: number };
    expect(second.a).toBeGreaterThan(first.a);
  });

  it("is transformed", async () => {
    const ask = probe({
      a: Query(z.string().transform((text) => text.length)),
      b: Body(z.object({ at: z.string().transform((text) => new Date(text)) })),
    });
    expect((await ask("/?a=four", { json: { at: "2024-01-01T00:00:00Z" } })).args).toEqual({
      a: 4,
      b: { at: new Date("2024-01-01T00:00:00Z") },
    });
  });

  it("can check asynchronously, with or without others, and its errors have locations", async () => {
    const free = z.string().refine(async (name) => Promise.resolve(name !== "taken"), "Taken");
    const ask = probe({ a: Query(free), b: Query(z.object({ name: free })), c: Header(free), n: Query(z.int()) });
    const headers = [["c", "x"]] as const;
    expect((await ask("/?a=x&name=y&n=1", { headers })).args).toEqual({ a: "x", b: { name: "y" }, c: "x", n: 1 });
    const answer = await ask("/?a=taken&name=taken&n=x", { headers: [["c", "taken"]] });
    expect(faultLines(answer).toSorted()).toEqual([
      "value_error header.c",
      "value_error query.a",
      "value_error query.n",
      "value_error query.name",
    ]);
    expect(answer.faults.find(({ loc }) => loc[1] === "a")).toMatchObject({ msg: "Taken", input: "taken" });
    expect(faultLines(await ask("/?name=y&n=1", { headers }))).toEqual(["missing query.a"]);
    const body = probe({ body: Body(z.object({ list: z.array(free) })) });
    expect(faultLines(await body("/", { json: { list: ["x", "taken"] } }))).toEqual(["value_error body.list.1"]);
  });

  it("can check asynchronously and have a default", async () => {
    const schema = z
      .string()
      .refine(async () => Promise.resolve(true))
      .default("made");
    expect((await probe({ a: Query(schema) })("/")).args).toEqual({ a: "made" });
  });

  it("is called once in `returns` if it checks asynchronously", async () => {
    const schema = z.object({ name: z.string().refine(async (name) => Promise.resolve(name !== "bad"), "Bad name") });
    expect((await returning({ name: "ok", x: 1 }, { returns: schema })()).json).toEqual({ name: "ok" });
    const answer = await returning({ name: "bad" }, { returns: schema })();
    expect(answer.status).toBe(500);
    expect(answer.log[0]).toMatch(/name: Bad name/);
    let asked = 0;
    const own = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: async (value: unknown) => {
          asked++;
          return Promise.resolve({ value });
        },
        jsonSchema: { output: () => ({ type: "object", properties: { name: { type: "string" } } }) },
      },
    } as StandardSchema;
    expect((await returning({ name: "ok", x: 1 }, { returns: own })()).json).toEqual({ name: "ok" });
    expect(asked).toBe(1);
  });

  it("is required if it throws for an absent value", async () => {
    const schema = z.any().transform((value: string) => value.toUpperCase());
    const ask = probe({ a: Query(schema) });
    expect((await ask("/?a=x")).args).toEqual({ a: "X" });
    expect(faultLines(await ask("/"))).toEqual(["missing query.a"]);
  });

  it("is required if it rejects for an absent value, and does not crash the process", async () => {
    const own: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: async (value) => Promise.resolve({ value: (value as string).toUpperCase() }),
      },
    };
    for (const schema of [own, z.any().transform(async (value: string) => Promise.resolve(value.toUpperCase()))]) {
      const ask = probe({ a: Query(schema) });
      expect((await ask("/?a=x")).args).toEqual({ a: "X" });
      expect(faultLines(await ask("/"))).toEqual(["missing query.a"]);
    }
  });

  it("without JSON Schema needs a parameter function, and gets the text as received", async () => {
    const plain = v.pipe(v.string(), v.toNumber());
    expect("jsonSchema" in plain["~standard"]).toBe(false);
    expect(() => new App().get("/", { params: { a: plain } }, async () => null)).toThrow(
      /GET \/: The valibot schema of the parameter "a".*no JSON Schema.*Query\(schema\)/,
    );
    expect(() => new App().get("/{a}", { params: { a: plain } }, async () => null)).toThrow(ConfigurationError);
    const ask = probe(
      { a: Query(plain), b: Path(v.string()), c: Query(z.coerce.date(), { default: null }) },
      { path: "/{b}" },
    );
    expect((await ask("/x?a=5&a=7&c=2024-01-01")).args).toEqual({ a: 7, b: "x", c: new Date("2024-01-01") });
    expect((await probe({ body: Body(v.object({ a: v.number() })) })("/", { json: { a: 1 } })).args).toEqual({
      body: { a: 1 },
    });
  });

  it("without JSON Schema is rejected in `returns`, because its properties are unknown", () => {
    expect(() => new App().get("/", { returns: v.object({ a: v.number() }) }, async () => ({ a: 1 }))).toThrow(
      /GET \/: The valibot schema of `returns` has no JSON Schema/,
    );
    expect(() => new App().get("/", { returns: z.object({ at: z.date() }) }, async () => ({ at: new Date() }))).toThrow(
      ConfigurationError,
    );
  });

  it("can support only draft-07", async () => {
    const own: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: (value) => (Array.isArray(value) ? { value } : { issues: [{ message: "no list" }] }),
        jsonSchema: {
          input: ({ target }: { target: string }) => {
            if (target !== "draft-07") throw new Error("not this draft");
            return {
              type: "array",
              items: [{ type: "integer" }, { $ref: "#/definitions/Flag" }],
              definitions: { Flag: { type: "boolean" } },
            };
          },
        },
      } as StandardSchema["~standard"],
    };
    expect((await probe({ a: own })("/?a=5&a=yes")).args).toEqual({ a: [5, true] });
    expect((await probe({ a: own })("/")).faults).toMatchObject([{ type: "missing" }]);
  });

  it("is read for names and types: the library checks everything else in its JSON Schema", async () => {
    const jsonSchema = {
      type: "object",
      properties: {
        pattern: { type: "string", pattern: "(" },
        format: { type: "string", format: "own-format" },
        default: { type: "string", default: 5 },
        any: { minLength: 2, if: {} },
        data: { enum: [{ format: "x", default: 1 }] },
      },
      required: ["format"],
      dependentRequired: { format: ["any"] },
    };
    const own = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
      },
    } as StandardSchema;
    const result = { pattern: "a", format: "b", any: 1, data: { format: "x", default: 1 } };
    expect((await returning({ ...result, hash: "secret" }, { returns: own })()).json).toEqual(result);
    expect((await probe({ q: Query(own) })("/?pattern=a&format=b&any=1")).args).toEqual({
      q: { pattern: "a", format: "b", any: "1" },
    });
  });

  it("of a union, of a tagged union, of a record and of a recursive object is filtered in `returns`", async () => {
    const Cat: z.ZodType = z.object({
      name: z.string(),
      get kids() {
        return z.array(Cat);
      },
    });
    const secret = { hash: "secret" };
    const rows: [StandardSchema, unknown, unknown][] = [
      [z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]), { b: 1, ...secret }, { b: 1 }],
      [
        z.discriminatedUnion("k", [z.object({ k: z.literal("a"), x: z.int() }), z.object({ k: z.literal("b") })]),
        { k: "a", x: 1, ...secret },
        { k: "a", x: 1 },
      ],
      [z.record(z.string(), z.object({ a: z.int() })), { k: { a: 1, ...secret } }, { k: { a: 1 } }],
      [z.array(z.object({ a: z.int().nullable() })), [{ a: null, ...secret }], [{ a: null }]],
      [Cat, { name: "a", kids: [{ name: "b", kids: [], ...secret }] }, { name: "a", kids: [{ name: "b", kids: [] }] }],
      [
        type({ deep: { list: type({ a: "number" }).array() } }),
        { deep: { list: [{ a: 1, ...secret }], ...secret } },
        { deep: { list: [{ a: 1 }] } },
      ],
      [type("'x' | null"), "x", "x"],
      [type({ "[string]": "number" }), { a: 1 }, { a: 1 }],
      [
        toStandardJsonSchema(v.intersect([v.object({ a: v.number() }), v.object({ b: v.number() })])),
        { a: 1, b: 2, ...secret },
        { a: 1, b: 2 },
      ],
      [
        toStandardJsonSchema(v.looseObject({ a: v.object({ b: v.number() }) })),
        { a: { b: 1, ...secret }, c: 1 },
        { a: { b: 1 } },
      ],
      [z.looseObject({ a: z.int() }), { a: 1, b: [2] }, { a: 1, b: [2] }],
      [
        z.object({
          n: z
            .string()
            .transform((text) => text.length)
            .default(5),
        }),
        {},
        undefined,
      ],
      [
        z.object({ format: z.email(), pattern: z.uuid(), default: z.int(), at: z.iso.datetime() }),
        {
          format: "a@b.cd",
          pattern: "6fa459ea-ee8a-4ca4-894e-db77e160355e",
          default: 1,
          at: "2024-01-01T00:00:00Z",
          ...secret,
        },
        { format: "a@b.cd", pattern: "6fa459ea-ee8a-4ca4-894e-db77e160355e", default: 1, at: "2024-01-01T00:00:00Z" },
      ],
    ];
    for (const [schema, result, expected] of rows) {
      const register = () => returning(result, { returns: schema });
      if (expected === undefined) expect(register).toThrow(/no JSON Schema/);
      else {
        const answer = await register()();
        expect({ json: answer.json, log: answer.log }).toEqual({ json: expected, log: [] });
      }
    }
  });

  it("reports an error in the value of a password without repeating it", async () => {
    const rows: StandardSchema[] = [
      z.object({ password: z.string().min(12) }),
      type({ password: "string >= 12" }),
      type({ password: "string.email" }),
      toStandardJsonSchema(v.object({ password: v.pipe(v.string(), v.minLength(12), v.email()) })),
      z.object({ password: z.string().refine(() => false, { error: (issue) => `${String(issue.input)} is bad` }) }),
    ];
    for (const schema of rows) {
      const answer = await probe({ body: Body(schema) })("/", { json: { password: 'hun"ter2' } });
      expect(answer.status).toBe(422);
      expect(answer.text).not.toContain("hun");
      expect(answer.faults[0]?.msg).toMatch(/\w/);
    }
  });

  it("limits the length of the response for long values and messages", async () => {
    const long = "x".repeat(500_000);
    const echo = z.array(z.string().refine(() => false, { error: (issue) => `${String(issue.input)} is bad` }));
    for (const [schema, json] of [
      [type("string.email"), long],
      [echo, Array.from({ length: 2 }, () => long.slice(0, 200_000))],
      [echo, Array.from({ length: 5000 }, () => "y")],
    ] as const) {
      const answer = await probe({ body: Body(schema as StandardSchema) })("/", { json });
      expect(answer.status).toBe(422);
      expect(answer.text.length).toBeLessThan(50_000);
    }
  });
});
