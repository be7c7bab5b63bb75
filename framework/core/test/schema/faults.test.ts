/** The content of a response with errors, and values that it never contains. */
import { describe, expect, it } from "@jest/globals";
import { Body, Cookie, Form, Header, Query, t } from "../../src/index.js";
import { faultLines, probe } from "../../../test/support/probe.js";

describe("`input` in an error", () => {
  it("repeats text, numbers, booleans and null, and no list or object", async () => {
    const ask = probe({ b: t.Object({ l: t.Array(t.Null()) }) });
    const answer = await ask("/", { json: { l: ["x", 1.5, true, { a: 1 }, [1]] } });
    expect(answer.faults.map((fault) => fault.input)).toEqual(["x", 1.5, true, undefined, undefined]);
    expect((await probe({ b: t.Object({ s: t.String() }) })("/", { json: { s: null } })).faults[0]?.input).toBeNull();
  });

  it("is truncated at 200 characters, and never in the middle of one", async () => {
    const answer = await probe({ n: t.Integer() })(`/?n=${"9".repeat(500)}`);
    expect(answer.faults[0]?.input).toBe("9".repeat(200));
    const hearts = await probe({ b: Body(t.Array(t.Integer())) })("/", { json: [`x${"💙".repeat(500)}`] });
    expect(hearts.faults[0]?.input).toBe(`x${"💙".repeat(99)}`);
  });

  it.each([
    "password",
    "Password2",
    "user_password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "clientSecret",
    "token",
    "accessToken",
    "refresh_token",
    "authorization",
    "credentials",
    "api_key",
    "apiKey",
    "private-key",
    "session",
    "otp",
    "pin",
    "pin_code",
    "userPin",
    "cvv",
    "cvc",
    "jwt",
    "ssn",
  ])("never repeats the value of %s, in a body, a query, a form or below it", async (name) => {
    const secret = "hunter2";
    const answers = [
      await probe({ b: t.Object({ [name]: t.Integer() }) })("/", { json: { [name]: secret } }),
      await probe({ b: t.Object({ [name]: t.Array(t.Object({ x: t.Integer() })) }) })("/", {
        json: { [name]: [{ x: secret }] },
      }),
      await probe({ x: Query(t.Integer(), { alias: name }) })(`/?${name}=${secret}`),
      await probe({ [name]: Query(t.Integer(), { alias: "x" }) })(`/?x=${secret}`),
      await probe({ x: Form(t.Integer(), { alias: name }) })("/", { form: [[name, secret]] }),
      await probe({ x: Header(t.Integer(), { alias: name }) })("/", { headers: [[name, secret]] }),
      await probe({ b: t.Record(t.String(), t.Integer()) })("/", { json: { [name]: secret } }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.text).not.toContain(secret);
      expect(answer.faults[0]).not.toHaveProperty("input");
    }
  });

  it.each(["spinner", "opinion", "compass_x", "keyboard", "name", "author", "passenger_count"])(
    "repeats the value of %s",
    async (name) => {
      const answer = await probe({ b: t.Object({ [name]: t.Integer() }) })("/", { json: { [name]: "x" } });
      if (/pass/.test(name)) expect(answer.status).toBe(422);
      else expect(answer.faults[0]?.input).toBe("x");
    },
  );

  it("never repeats a cookie, nor text that its schema marks as a password or write-only", async () => {
    expect(
      (await probe({ c: Cookie(t.Integer()) })("/", { headers: [["cookie", "c=abc"]] })).faults[0],
    ).not.toHaveProperty("input");
    for (const schema of [
      t.String({ format: "password", minLength: 20 }),
      t.String({ writeOnly: true, pattern: "^x" }),
    ]) {
      const answer = await probe({ b: t.Object({ w: schema }) })("/", { json: { w: "hunter2" } });
      expect(answer.text).not.toContain("hunter2");
    }
  });
});

describe("`loc` in an error", () => {
  it("has names and indexes from the outside in", async () => {
    const schema = t.Object({ a: t.Array(t.Record(t.String(), t.Tuple([t.Integer(), t.Integer()]))) });
    const answer = await probe({ b: schema })("/", { json: { a: [{}, { "x.y": [1, "2"] }] } });
    expect(answer.faults[0]?.loc).toEqual(["body", "a", 1, "x.y", 1]);
  });

  it("cuts a name at 200 characters, so that one long name is not repeated a hundred times", async () => {
    const name = "k".repeat(100_000);
    const answer = await probe({ b: t.Record(t.String(), t.Array(t.String())) })("/", {
      json: { [name]: Array.from({ length: 500 }, () => 1) },
    });
    expect(answer.faults).toHaveLength(100);
    expect(answer.faults[0]?.loc).toEqual(["body", "k".repeat(200), 0]);
    expect(answer.text.length).toBeLessThan(50_000);
    const closed = t.Object({}, { additionalProperties: false });
    for (const [params, target, sent] of [
      [{ b: Body(closed) }, "/", { json: { [name]: 1 } }],
      [{ q: Query(closed) }, `/?${name}=1`, {}],
      [{ f: Form(closed) }, "/", { form: `${name}=1` }],
    ] as const) {
      const extra = await probe(params)(target, sent);
      expect(faultLines(extra)[0]).toMatch(/^extra_forbidden \w+\.k{200}$/);
      expect(extra.text.length).toBeLessThan(1000);
    }
  });
});

describe("a response", () => {
  it("lists at most a hundred errors", async () => {
    const json = Array.from({ length: 100_000 }, () => "x");
    const answer = await probe({ b: Body(t.Array(t.Integer())) })("/", { json });
    expect(answer.faults).toHaveLength(100);
    expect(answer.faults.at(-1)?.loc).toEqual(["body", 99]);
  });

  it("lists a hundred if several belong to one item", async () => {
    const Item = t.Object({ a: t.Integer(), b: t.Integer(), c: t.Integer() });
    const answer = await probe({ b: Body(t.Array(Item)) })("/", { json: Array.from({ length: 50 }, () => ({})) });
    expect(answer.faults).toHaveLength(100);
  });

  it("lists at most a hundred errors over all its parameters", async () => {
    const many = Array.from({ length: 90 }, () => "n=x").join("&");
    const answer = await probe({ n: t.Array(t.Integer()), b: Body(t.Array(t.Integer())) })(`/?${many}`, {
      json: Array.from({ length: 50 }, () => "x"),
    });
    expect(answer.faults).toHaveLength(100);
  });

  it("lists each error once, even if several members of an intersection find it", async () => {
    const A = t.Object({ a: t.Integer() });
    const answer = await probe({ b: t.Intersect([A, A, t.Object({ a: t.Number(), b: t.Integer() })]) })("/", {
      json: { a: "x" },
    });
    expect(faultLines(answer)).toEqual(["int_type body.a", "float_type body.a", "missing body.b"]);
  });

  it("shows a long list of allowed values in short", async () => {
    const values = Array.from({ length: 5000 }, (_, index) => t.Literal(`value-${index}`));
    const answer = await probe({ e: Query(t.Array(t.Union(values))) })("/?e=x");
    expect(answer.text.length).toBeLessThan(1500);
    expect(answer.faults[0]?.msg).toMatch(/^Input should be 'value-0', 'value-1', /);
  });
});
