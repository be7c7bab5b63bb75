import { expect, it } from "@jest/globals";
import { App, HTMLResponse, HTTPException, Response, t } from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const User = t.Object({ name: t.String(), disabled: t.Boolean({ default: false }) });
const stored = { name: "ann", disabled: false, hashed_password: "secret" };
const shown = { name: "ann", disabled: false };

describeMatrix("properties that are not in `returns` are removed", ({ returning }) => {
  it.each([
    ["a struct", User, stored, shown],
    ["a list", t.Array(User), [stored, stored], [shown, shown]],
    ["a nested struct", t.Object({ user: User }), { user: stored, token: "x" }, { user: shown }],
    [
      "a list in a struct in a list",
      t.Array(t.Object({ all: t.Array(User) })),
      [{ all: [stored] }],
      [{ all: [shown] }],
    ],
    ["a tuple", t.Tuple([t.Integer(), User]), [1, stored], [1, shown]],
    ["a record of structs", t.Record(t.String(), User), { a: stored }, { a: shown }],
    ["a struct or null", t.Union([User, t.Null()]), stored, shown],
    ["a union of structs", t.Union([t.Object({ id: t.Integer() }), User]), stored, shown],
    [
      "a union with a tag",
      t.Union([t.Object({ k: t.Literal(1), user: User }), t.Object({ k: t.Literal(2) })]),
      { k: 1, user: stored, x: 1 },
      { k: 1, user: shown },
    ],
    ["an intersection", t.Intersect([User, t.Object({ id: t.Integer() })]), { ...stored, id: 1 }, { ...shown, id: 1 }],
    [
      "an intersection of nested structs",
      t.Intersect([t.Object({ user: User }), t.Object({ user: t.Object({ id: t.Integer() }) })]),
      { user: { ...stored, id: 1 } },
      { user: { ...shown, id: 1 } },
    ],
    [
      "a struct beside an open one",
      t.Intersect([t.Object({ user: User }), t.Record(t.String(), t.Unknown())]),
      { user: stored, x: 1 },
      { user: shown, x: 1 },
    ],
    ["a closed struct", t.Object({ name: t.String() }, { additionalProperties: false }), stored, { name: "ann" }],
    [
      "a closed intersection",
      t.Intersect([t.Object({ name: t.String() })], { unevaluatedProperties: false }),
      stored,
      { name: "ann" },
    ],
    ["an empty struct", t.Object({}), stored, {}],
    [
      "a recursive struct",
      t.Recursive((This) => t.Object({ name: t.String(), kids: t.Array(This) })),
      { ...stored, kids: [{ ...stored, kids: [] }] },
      { name: "ann", kids: [{ name: "ann", kids: [] }] },
    ],
  ])("in %s", async (_shape, schema, result, expected) => {
    const answer = await returning(result, { returns: schema })();
    expect(answer.json).toEqual(expected);
    expect(answer.text).not.toContain("secret");
    expect(answer.status).toBe(200);
  });

  it("nor the fields of an instance, while its getters are read", async () => {
    class Row {
      readonly name = "ann";
      readonly hash = "secret";
      get disabled(): boolean {
        return true;
      }
    }
    expect((await returning(new Row(), { returns: User })()).json).toEqual({ name: "ann", disabled: true });
  });

  it("and so are properties from `toJSON` of an object", async () => {
    const result = { name: "ann", disabled: false, toJSON: () => ({ leaked: "secret" }) };
    expect((await returning(result, { returns: User })()).json).toEqual(shown);
  });
});

describeMatrix("a result", ({ returning }) => {
  it("has its defaults filled in, and its optional fields left out", async () => {
    const Token = t.Object({
      access_token: t.String(),
      token_type: t.String({ default: "bearer" }),
      scope: t.Optional(t.String()),
      at: t.Date({ default: new Date(0) }),
    });
    expect((await returning({ access_token: "x", scope: undefined }, { returns: Token })()).json).toEqual({
      access_token: "x",
      token_type: "bearer",
      at: "1970-01-01T00:00:00.000Z",
    });
  });

  it("writes dates as RFC 3339 text, at every level", async () => {
    const at = new Date("2024-02-29T12:00:00.123Z");
    const returns = t.Object({ at: t.Date(), list: t.Array(t.Date()), either: t.Union([t.Date(), t.Null()]) });
    expect((await returning({ at, list: [at], either: at }, { returns })()).text).toBe(
      '{"at":"2024-02-29T12:00:00.123Z","list":["2024-02-29T12:00:00.123Z"],"either":"2024-02-29T12:00:00.123Z"}',
    );
  });

  it("is sent unchanged if it is a Response", async () => {
    const answer = await returning(new HTMLResponse("<p>secret</p>", { statusCode: 201 }), { returns: User })();
    expect([answer.status, answer.text]).toEqual([201, "<p>secret</p>"]);
  });

  it("can be undefined if null is allowed", async () => {
    expect((await returning(undefined, { returns: t.Null() })()).text).toBe("null");
    expect((await returning(undefined, { returns: t.Union([User, t.Null()]) })()).text).toBe("null");
  });

  it("is sent with every key if it is a plain record", async () => {
    const returns = t.Record(t.String(), t.Unknown());
    const result = { a: 1, b: { c: [1] }, constructor: 1 };
    expect((await returning(result, { returns })()).json).toEqual(result);
  });

  it("may contain text truncated in the middle of a character", async () => {
    const half = "💙".slice(0, 1);
    expect((await returning({ name: half }, { returns: User })()).text).toBe('{"name":"\\ud83d","disabled":false}');
  });

  it("of a union is the result of the first matching member", async () => {
    const returns = t.Union([t.Object({ a: t.Integer() }), t.Object({ a: t.Integer(), b: t.Integer() })]);
    expect((await returning({ a: 1, b: 2 }, { returns })()).json).toEqual({ a: 1 });
  });

  it("has null for an empty array slot, as JSON.stringify would write it", async () => {
    // oxlint-disable-next-line no-sparse-arrays
    const result = ["a", undefined, , null];
    expect((await returning(result, { returns: t.Array(t.Union([t.String(), t.Null()])) })()).json).toEqual([
      "a",
      null,
      null,
      null,
    ]);
  });

  it("of ten thousand union members is written in full", async () => {
    const returns = t.Array(t.Union([t.String(), t.Integer(), t.Object({ n: t.Integer() })]));
    const result = Array.from({ length: 20_000 }, (_, n) => ({ n }));
    const answer = await returning(result, { returns })();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(result);
  });

  it("is accepted if the same object is in it twice", async () => {
    expect(
      (await returning([stored, stored], { returns: t.Array(t.Union([t.Object({ x: t.Integer() }), User])) })()).json,
    ).toEqual([shown, shown]);
  });

  it("lists distinct dates as distinct", async () => {
    const returns = t.Array(t.Date(), { uniqueItems: true });
    expect((await returning([new Date(1), new Date(2)], { returns })()).status).toBe(200);
    expect((await returning([new Date(1), new Date(1)], { returns })()).status).toBe(500);
  });
});

describeMatrix("a result that does not fit", ({ call, returning }) => {
  it.each([
    ["a missing field", User, { disabled: true }, "name: Field required"],
    [
      "a wrong type deep inside",
      t.Object({ users: t.Array(User) }),
      { users: [shown, { name: 5 }] },
      "users.1.name: Input should be a valid string",
    ],
    ["nothing", User, undefined, "object"],
    ["a list for a struct", User, [], "object"],
    ["text for a date", t.Object({ at: t.Date() }), { at: "2024-01-01T00:00:00Z" }, "at: "],
    ["an invalid date", t.Object({ at: t.Date() }), { at: new Date(Number.NaN) }, "at: "],
    ["a date that RFC 3339 cannot write", t.Object({ at: t.Date() }), { at: new Date(8.64e15) }, "at: "],
    [
      "a date out of its bounds",
      t.Object({ at: t.Date({ maximumTimestamp: 0 }) }),
      { at: new Date(1) },
      "at: Input should be less than or equal to 1970-01-01T00:00:00.000Z",
    ],
    ["NaN", t.Object({ n: t.Number() }), { n: Number.NaN }, "n: Input should be a finite number"],
    ["a bigint", t.Object({ n: t.Integer() }), { n: 5n }, "n: Input should be a valid integer"],
    ["a bigint for an intersection", t.Intersect([User, t.Object({ id: t.Integer() })]), 5n, "plain object"],
    ["a Map for a record", t.Record(t.String(), t.Integer()), new Map([["secret", 1]]), "plain object"],
    ["a Set for a list", t.Array(t.Integer()), new Set([1]), "list"],
    ["bytes for a struct", t.Record(t.String(), t.Integer()), new Uint8Array(3), "plain object"],
    ["a promise for a struct", t.Object({ user: t.Partial(User) }), { user: Promise.resolve(stored) }, "user: "],
    ["no member of a union", t.Union([User, t.Object({ id: t.Integer() })]), { x: "secret" }, "union"],
  ])("results in 500, and the log contains the route and the field: %s", async (_case, returns, result, line) => {
    const answer = await returning(result, { returns })();
    expect(answer.status).toBe(500);
    expect(answer.text).toBe('{"detail":"Internal Server Error"}');
    expect(answer.log).toHaveLength(1);
    expect(answer.log[0]).toMatch(/^error GET \/result /);
    expect(answer.log[0]).toContain(line);
    expect(answer.log[0]).not.toContain("secret");
  });

  it("is reported if it contains itself", async () => {
    const result: { kids: unknown[] } = { kids: [] };
    result.kids.push(result);
    const answer = await returning(result, { returns: t.Recursive((This) => t.Object({ kids: t.Array(This) })) })();
    expect(answer.status).toBe(500);
    expect(answer.log[0]).toMatch(/contains itself/);
  });

  it("does not expose the value in the error that an exception handler sees", async () => {
    const app = new App({ logger: new KeptLog() });
    let seen = "";
    app.exceptionHandler(Error, (error) => {
      seen = JSON.stringify(error) + error.message;
      return { detail: "no" };
    });
    app.get(
      "/",
      { returns: t.Object({ password: t.Integer() }) as never },
      async () => ({ password: "hunter2" }) as never,
    );
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(seen).toContain("password");
    expect(seen).not.toContain("hunter2");
  });
});

describeMatrix("without `returns`", ({ call, returning }) => {
  it("the rules of JSON.stringify hold", async () => {
    const result = {
      at: new Date(0),
      gone: undefined,
      fn: () => 1,
      nan: Number.NaN,
      list: [undefined],
      deep: new Map([[1, 2]]),
      own: { toJSON: () => "x" },
    };
    expect((await returning(result)()).text).toBe(JSON.stringify(result));
  });

  it.each([
    ["nothing", undefined, "null"],
    ["null", null, "null"],
    ["text", "x", '"x"'],
    ["a number", 5, "5"],
    ["false", false, "false"],
    ["a list", [1], "[1]"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])("%s is JSON", async (_case, result, text) => {
    const answer = await returning(result)();
    expect([answer.status, answer.text]).toEqual([200, text]);
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  it.each([
    ["a Map", new Map(), /Map.*Object\.fromEntries/],
    ["a Set", new Set(), /Set.*\[\.\.\.set\]/],
    ["bytes", new Uint8Array(3), /bytes.*new Response/],
    ["an ArrayBuffer", new ArrayBuffer(3), /bytes.*new Response/],
    ["a Buffer", Buffer.from("x"), /bytes.*new Response/],
    ["a bigint", 5n, /bigint.*String/i],
    ["a bigint inside", { n: [5n] }, /bigint.*String/i],
    ["a cycle", cycle, /(cycle|contains itself|circular)[\s\S]*Return/i],
    ["a function", () => 1, /function.*Return/],
    ["a symbol", Symbol("x"), /symbol.*Return/],
  ])("%s results in 500, and the log suggests a fix", async (_case, result, line) => {
    const answer = await returning(result)();
    expect(answer.status).toBe(500);
    expect(answer.text).toBe('{"detail":"Internal Server Error"}');
    expect(answer.log).toHaveLength(1);
    expect(answer.log[0]).toMatch(/^error GET \/result /);
    expect(answer.log[0]).toMatch(line);
  });

  it("a Response is sent unchanged, and an HTTPException determines the status", async () => {
    expect((await returning(new Response("x", { statusCode: 202 }))()).status).toBe(202);
    const app = new App();
    app.get("/", { returns: User }, async () => {
      throw new HTTPException(418, { own: "detail" });
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 418, json: { detail: { own: "detail" } } });
  });
});
