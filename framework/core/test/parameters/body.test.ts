import { expect, it } from "@jest/globals";
import { Body, Query, t } from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { faultLines } from "../../../test/support/probe.js";

const Item = t.Object({
  name: t.String({ minLength: 1 }),
  price: t.Number(),
  tags: t.Array(t.String(), { default: [] }),
  note: t.Optional(t.String()),
});

describeMatrix("one body parameter", ({ probe }) => {
  const ask = probe({ item: Item });

  it("is the whole body", async () => {
    expect((await ask("/", { json: { name: "a", price: 1 } })).args).toEqual({
      item: { name: "a", price: 1, tags: [] },
    });
  });

  it.each([
    ["a list", t.Array(t.Integer()), [1, 2]],
    ["text", t.String(), "text"],
    ["a number", t.Number(), 1.5],
    ["a boolean", t.Boolean(), false],
    ["null", t.Null(), null],
    ["a record", t.Record(t.String(), t.Unknown()), { a: [1] }],
    ["anything", t.Unknown(), { deep: [null] }],
  ])("may be %s", async (_shape, schema, value) => {
    const body = Body(schema as never);
    expect((await probe({ body })("/", { text: JSON.stringify(value) })).args).toEqual({ body: value });
  });

  it("without a schema is text", async () => {
    expect((await probe({ body: Body() })("/", { text: '"x"' })).args).toEqual({ body: "x" });
    expect(faultLines(await probe({ body: Body() })("/", { text: "5" }))).toEqual(["string_type body"]);
  });

  it("reports errors with locations from `body` down to the array item", async () => {
    expect(faultLines(await ask("/", { json: { name: "", tags: ["x", 1, null] } }))).toEqual([
      "string_too_short body.name",
      "missing body.price",
      "string_type body.tags.1",
      "string_type body.tags.2",
    ]);
    expect(faultLines(await ask("/", { json: [] }))).toEqual(["object_type body"]);
  });

  it("is a member of the body's object with `embed: true`", async () => {
    const embedded = probe({ item: Body(Item, { embed: true }) });
    expect((await embedded("/", { json: { item: { name: "a", price: 1 } } })).args).toEqual({
      item: { name: "a", price: 1, tags: [] },
    });
    expect(faultLines(await embedded("/", { json: { name: "a", price: 1 } }))).toEqual(["missing body.item"]);
    expect(faultLines(await embedded("/", { json: { item: { name: "a" } } }))).toEqual(["missing body.item.price"]);
  });

  it("may be absent with a default, with null, and with t.Optional", async () => {
    expect((await probe({ b: Body(Item, { default: null }) })("/")).args).toEqual({ b: null });
    expect((await probe({ b: Body(t.Optional(Item)) })("/")).args).toEqual({ b: undefined });
    expect((await probe({ b: Body(t.Integer(), { default: 5 }) })("/")).args).toEqual({ b: 5 });
    expect((await probe({ b: t.Object({ n: t.Integer() }, { default: { n: 1 } }) })("/")).args).toEqual({
      b: { n: 1 },
    });
  });

  it("accepts null only if null is its default", async () => {
    expect((await probe({ b: Body(Item, { default: null }) })("/", { text: "null" })).args).toEqual({ b: null });
    expect(faultLines(await ask("/", { text: "null" }))).toEqual(["object_type body"]);
    expect(faultLines(await probe({ b: Body(t.Optional(Item)) })("/", { text: "null" }))).toEqual(["object_type body"]);
  });
});

describeMatrix("several body parameters", ({ probe }) => {
  const ask = probe({ item: Item, count: Body(t.Integer()), note: Body({ default: null, alias: "the-note" }) });

  it("are the members of one object, each under its name or alias", async () => {
    const json = { item: { name: "a", price: 1 }, count: 2, "the-note": "n", other: true };
    expect((await ask("/", { json })).args).toEqual({
      item: { name: "a", price: 1, tags: [] },
      count: 2,
      note: "n",
    });
  });

  it("are each reported as missing", async () => {
    expect(faultLines(await ask("/", { json: {} }))).toEqual(["missing body.item", "missing body.count"]);
    expect(faultLines(await ask("/"))).toEqual(["missing body.item", "missing body.count"]);
  });

  it("of a body that is not an object are one issue", async () => {
    for (const text of ["[]", "5", "null", '"x"']) {
      expect(faultLines(await ask("/", { text }))).toEqual(["object_type body"]);
    }
  });

  it("are reported together with all issues of query and headers", async () => {
    const both = probe({ q: Query(t.Integer()), item: Item, count: Body(t.Integer()) });
    expect(faultLines(await both("/?q=x", { json: { count: "1" } }))).toEqual([
      "int_parsing query.q",
      "missing body.item",
      "int_type body.count",
    ]);
  });

  it.each(["__proto__", "constructor", "toString"])("named %s are read from own members only", async (name) => {
    const odd = probe({ [name]: Body(t.String()), other: Body(t.String()) });
    expect(faultLines(await odd("/", { text: '{"other":"x"}' }))).toEqual([`missing body.${name}`]);
  });
});

describeMatrix("a JSON body", ({ probe }) => {
  it.each([
    ["a number for text", { s: 5 }, "string_type body.s"],
    ["text for an integer", { i: "5" }, "int_type body.i"],
    ["a fraction for an integer", { i: 1.5 }, "int_type body.i"],
    ["text for a number", { n: "1.5" }, "float_type body.n"],
    ["true as text", { b: "true" }, "bool_type body.b"],
    ["1 for true", { b: 1 }, "bool_type body.b"],
    ["a number for a date", { d: 0 }, "datetime_type body.d"],
    ["one item for a list", { l: "x" }, "list_type body.l"],
    ["an object for a list", { l: { 0: "x", length: 1 } }, "list_type body.l"],
    ["a list for an object", { o: [] }, "object_type body.o"],
    ["text for a literal number", { e: "1" }, "literal_error body.e"],
    ["null for an optional", { s: null }, "string_type body.s"],
  ])("is never coerced: %s", async (_case, json, fault) => {
    const schema = t.Partial(
      t.Object({
        s: t.String(),
        i: t.Integer(),
        n: t.Number(),
        b: t.Boolean(),
        d: t.Date(),
        l: t.Array(t.String()),
        o: t.Object({}),
        e: t.Literal(1),
      }),
    );
    expect(faultLines(await probe({ body: schema })("/", { json }))).toEqual([fault]);
  });

  it("converts RFC 3339 strings to dates, and keeps strings with a format as strings", async () => {
    const ask = probe({ body: t.Object({ at: t.Array(t.Date()), text: t.String({ format: "date-time" }) }) });
    const at = "2024-02-29T12:00:00+01:00";
    expect((await ask("/", { json: { at: [at], text: at } })).args).toEqual({ body: { at: [new Date(at)], text: at } });
    expect(faultLines(await ask("/", { json: { at: ["2024-02-29"], text: "2024-02-29" } }))).toEqual([
      "datetime_parsing body.at.0",
      "string_format body.text",
    ]);
  });

  it.each([
    ["none", undefined],
    ["text/plain", "text/plain"],
    ["a form's", "application/x-www-form-urlencoded"],
    ["text/json", "text/json"],
    ["application/json-seq", "application/json-seq"],
    ["application/xjson", "application/xjson"],
    ["one that only contains it", "text/plain; x=application/json"],
    ["two", "application/json, text/plain"],
    ["empty", ""],
  ])("needs a JSON content type: %s", async (_case, type) => {
    const headers = type === undefined ? [] : ([["content-type", type]] as const);
    const answer = await probe({ item: Item })("/", { body: Buffer.from('{"name":"a","price":1}'), headers });
    expect(answer.status).toBe(422);
    expect(answer.faults).toEqual([
      { type: "content_type", loc: ["body"], msg: expect.stringContaining("application/json"), input: type ?? null },
    ]);
  });

  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    "application/problem+json",
    "application/json;",
  ])("is taken as %s", async (type) => {
    const headers = [["content-type", type]] as const;
    const body = Buffer.from('{"name":"a","price":1}');
    expect((await probe({ item: Item })("/", { body, headers })).status).toBe(200);
  });

  it.each([
    ["nothing but a brace", "{"],
    ["white space", " \n"],
    ["a comma at the end", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a comment", "{}//"],
    ["NaN", "NaN"],
    ["two values", "{}{}"],
    ["a control character in text", '"\n"'],
    ["a byte order mark inside", '{\uFEFF"a":1}'],
    ["undefined", "undefined"],
  ])("causes one error if it is malformed, which repeats no part of it: %s", async (_case, text) => {
    const answer = await probe({ item: Item })("/", { text });
    expect(answer.status).toBe(422);
    expect(answer.faults).toEqual([
      { type: "json_invalid", loc: ["body"], msg: expect.stringMatching(/^JSON decode error/) },
    ]);
  });

  it("is rejected if it is not UTF-8", async () => {
    const answer = await probe({ body: Body(t.String()) })("/", {
      body: Buffer.from([0x22, 0xff, 0x22]),
      headers: [["content-type", "application/json"]],
    });
    expect(answer.faults).toEqual([{ type: "json_invalid", loc: ["body"], msg: "JSON should be valid UTF-8" }]);
  });

  it("is reported as missing if it is empty and the route requires one", async () => {
    const answer = await probe({ item: Item })("/", { headers: [["content-type", "application/json"]] });
    expect(answer.faults).toEqual([{ type: "missing", loc: ["body"], msg: "Field required", input: null }]);
  });

  it("is rejected past 100 levels, and past the route's own `jsonDepth`", async () => {
    const nest = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const ask = probe({ body: Body(t.Unknown()) });
    expect((await ask("/", { text: nest(100) })).status).toBe(200);
    for (const depth of [101, 100_000]) {
      const answer = await ask("/", { text: nest(depth) });
      expect(answer.faults).toEqual([
        { type: "json_invalid", loc: ["body"], msg: "JSON should be nested at most 100 levels deep" },
      ]);
    }
    expect((await ask("/", { text: `{"a":`.repeat(100_000) })).status).toBe(422);
    expect((await ask("/", { text: JSON.stringify(`"\\${"[{".repeat(500)}"\\`) })).status).toBe(200);
    const shallow = probe({ body: Body(t.Unknown()) }, { limits: { jsonDepth: 2 } });
    expect((await shallow("/", { text: "[[1]]" })).status).toBe(200);
    expect((await shallow("/", { text: "[[[]]]" })).status).toBe(422);
  });

  it("gets a response if it exceeds the stack, even if the limit is raised", async () => {
    const ask = probe({ body: Body(t.Unknown()) }, { limits: { jsonDepth: 1_000_000 } });
    const text = `${"[".repeat(50_000)}{"__proto__":1}${"]".repeat(50_000)}`;
    expect((await ask("/", { text })).status).toBe(200);
  });

  it("larger than 1 MiB is 413, whether or not its length is announced", async () => {
    const ask = probe({ body: Body(t.String()) });
    const fits = JSON.stringify("x".repeat(1024 * 1024 - 2));
    expect((await ask("/", { text: fits })).status).toBe(200);
    const over = JSON.stringify("x".repeat(1024 * 1024 - 1));
    expect((await ask("/", { text: over })).status).toBe(413);
    const headers = [
      ["content-type", "application/json"],
      ["content-length", String(over.length)],
    ] as const;
    expect((await ask("/", { text: over, headers })).status).toBe(413);
    expect((await probe({ body: Body(t.String()) }, { limits: { bodyBytes: 4 } })("/", { text: '"abc"' })).status).toBe(
      413,
    );
  });
});

describeMatrix("an object schema", ({ probe }) => {
  it("drops the keys that it does not name, at every level", async () => {
    const ask = probe({
      b: t.Object({ inner: t.Object({ a: t.Integer() }), list: t.Array(t.Object({ a: t.Integer() })) }),
    });
    const json = { inner: { a: 1, x: 1 }, list: [{ a: 2, x: 1 }], x: 1 };
    expect((await ask("/", { json })).args).toEqual({ b: { inner: { a: 1 }, list: [{ a: 2 }] } });
  });

  it("rejects each unknown property if it is closed", async () => {
    const Closed = t.Object({ a: t.Optional(t.Integer()) }, { additionalProperties: false });
    const ask = probe({ b: t.Object({ list: t.Array(Closed) }) });
    expect(faultLines(await ask("/", { json: { list: [{ a: 1 }, { b: 1, c: 2 }] } }))).toEqual([
      "extra_forbidden body.list.1.b",
      "extra_forbidden body.list.1.c",
    ]);
  });

  it("keeps unknown properties if it is open, and validates them if a schema describes them", async () => {
    const open = probe({ b: t.Object({ a: t.Integer() }, { additionalProperties: true }) });
    expect((await open("/", { json: { a: 1, x: [1] } })).args).toEqual({ b: { a: 1, x: [1] } });
    const typed = probe({ b: t.Object({ a: t.Integer() }, { additionalProperties: t.Date() }) });
    expect((await typed("/", { json: { a: 1, x: "2024-01-01T00:00:00Z" } })).args).toEqual({
      b: { a: 1, x: new Date("2024-01-01T00:00:00Z") },
    });
    expect(faultLines(await typed("/", { json: { a: 1, x: 1 } }))).toEqual(["datetime_type body.x"]);
  });

  it("fills in defaults at every level, a copy for each request", async () => {
    const ask = probe({
      b: t.Object({
        page: t.Object(
          { size: t.Integer({ default: 10 }), sort: t.Array(t.String(), { default: ["id"] }) },
          { default: {} },
        ),
        since: t.Date({ default: "2024-01-01T00:00:00Z" }),
        until: t.Optional(t.Date({ default: new Date(0) })),
      }),
    });
    const expected = {
      page: { size: 10, sort: ["id"] },
      since: new Date("2024-01-01T00:00:00Z"),
      until: new Date(0),
    };
    for (let round = 0; round < 2; round++) {
      const { args } = await ask("/", { json: {} });
      expect(args).toEqual({ b: expected });
      (args as { b: { page: { sort: string[] } } }).b.page.sort.push("changed");
    }
  });

  it("requires its fields, and rejects null for them", async () => {
    const ask = probe({ b: t.Object({ a: t.String(), n: t.Union([t.String(), t.Null()]), u: t.Unknown() }) });
    expect(faultLines(await ask("/", { json: {} }))).toEqual(["missing body.a", "missing body.n", "missing body.u"]);
    expect(faultLines(await ask("/", { json: { a: null, n: null, u: null } }))).toEqual(["string_type body.a"]);
  });

  it("uses the last value of a duplicate key", async () => {
    expect((await probe({ b: t.Object({ a: t.Integer() }) })("/", { text: '{"a":"x","a":2}' })).args).toEqual({
      b: { a: 2 },
    });
  });

  it.each([
    ["plainly", '{"__proto__":{"admin":true},"a":1}'],
    ["by an escape", '{"__\\u0070roto__":{"admin":true},"a":1}'],
    ["by escapes of its underscores", '{"\\u005f\\u005Fproto\\u005f_":{"admin":true},"a":1}'],
    ["deep inside", '{"a":1,"rest":[{"x":{"__proto__":{"admin":true}}}]}'],
    ["beside constructor.prototype", '{"constructor":{"prototype":{"admin":true}},"a":1}'],
  ])("never passes `__proto__` to a handler, written %s", async (_case, text) => {
    for (const schema of [
      t.Object({ a: t.Integer(), rest: t.Optional(t.Unknown()) }),
      t.Object({ a: t.Integer() }, { additionalProperties: true }),
      t.Record(t.String(), t.Unknown()),
      Body(t.Unknown()),
      t.Intersect([t.Object({ a: t.Integer() }), t.Record(t.String(), t.Unknown())]),
      t.Union([t.Object({ a: t.String() }), t.Object({ a: t.Integer() }, { additionalProperties: true })]),
    ]) {
      const answer = await probe({ b: schema })("/", { text });
      expect(answer.status).toBe(200);
      const all: unknown[] = [answer.args?.["b"]];
      for (const value of all) {
        if (typeof value !== "object" || value === null) continue;
        expect(Object.hasOwn(value, "__proto__")).toBe(false);
        expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value));
        expect((value as { admin?: unknown }).admin === undefined || Object.hasOwn(value, "admin")).toBe(true);
        all.push(...Object.values(value));
      }
      expect(({} as { admin?: unknown }).admin).toBeUndefined();
    }
  });

  it.each(["constructor", "toString", "hasOwnProperty", "then", "valueOf", "__defineGetter__"])(
    "may have a property named %s, which only an own one fills",
    async (name) => {
      const ask = probe({ b: t.Object({ [name]: t.String() }) });
      expect((await ask("/", { json: { [name]: "x" } })).args).toEqual({ b: { [name]: "x" } });
      expect(faultLines(await ask("/", { json: {} }))).toEqual([`missing body.${name}`]);
      expect((await probe({ b: t.Record(t.String(), t.String()) })("/", { json: { [name]: "x" } })).args).toEqual({
        b: { [name]: "x" },
      });
    },
  );
});
