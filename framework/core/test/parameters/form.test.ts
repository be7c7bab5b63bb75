import { expect, it } from "@jest/globals";
import { Form, t } from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { faultLines } from "../../../test/support/probe.js";

describeMatrix("a form field", ({ probe }) => {
  it("is read under its own name or alias, and coerced", async () => {
    const ask = probe({ username: Form(), age: Form(t.Integer()), agree: Form(t.Boolean(), { alias: "i-agree" }) });
    expect((await ask("/", { form: "username=j%C3%B6rg+x&age=5&i-agree=on&other=1" })).args).toEqual({
      username: "jörg x",
      age: 5,
      agree: true,
    });
  });

  it("is missing, or its default, if it is absent or blank", async () => {
    const ask = probe({
      a: Form(),
      b: Form({ default: null }),
      c: Form(t.Integer(), { default: 3 }),
      d: Form(t.Optional(t.String())),
    });
    expect((await ask("/", { form: "a=1&b=&c=" })).args).toEqual({ a: "1", b: null, c: 3, d: undefined });
    expect(faultLines(await ask("/", { form: "a=" }))).toEqual(["missing form.a"]);
    expect(faultLines(await ask("/"))).toEqual(["missing form.a"]);
  });

  it("fills an array if it is repeated, or uses the last value for a scalar", async () => {
    const ask = probe({ a: Form(t.Array(t.Integer())), b: Form() });
    expect((await ask("/", { form: "a=1&a=2&b=x&b=y" })).args).toEqual({ a: [1, 2], b: "y" });
    expect(faultLines(await ask("/", { form: "a=1&a=x&b=y" }))).toEqual(["int_parsing form.a.1"]);
  });

  it.each(["__proto__", "constructor", "toString"])("may be named %s", async (name) => {
    const ask = probe({ x: Form({ alias: name }) });
    expect((await ask("/", { form: [[name, "v"]] })).args).toEqual({ x: "v" });
    expect(faultLines(await ask("/", { form: "y=1" }))).toEqual([`missing form.${name}`]);
  });

  it("keeps a question mark at the start of its name", async () => {
    expect(faultLines(await probe({ x: Form() })("/", { form: "?x=1" }))).toEqual(["missing form.x"]);
  });
});

describeMatrix("an object schema in Form", ({ probe }) => {
  const Login = t.Object({
    username: t.String(),
    password: t.String({ minLength: 8 }),
    scopes: t.Array(t.String(), { default: [] }),
  });

  it("is read property by property", async () => {
    expect(
      (await probe({ login: Form(Login) })("/", { form: "username=a&password=12345678&scopes=x&scopes=y" })).args,
    ).toEqual({
      login: { username: "a", password: "12345678", scopes: ["x", "y"] },
    });
  });

  it("reports all its errors together, and never a password", async () => {
    const answer = await probe({ login: Form(Login) })("/", { form: "password=hunter2" });
    expect(faultLines(answer)).toEqual(["missing form.username", "string_too_short form.password"]);
    expect(answer.text).not.toContain("hunter2");
  });

  it("rejects each other field once if it is closed", async () => {
    const Closed = t.Object({ a: t.Optional(t.String()) }, { additionalProperties: false });
    expect(faultLines(await probe({ f: Form(Closed) })("/", { form: "a=1&b=2&b=3" }))).toEqual([
      "extra_forbidden form.b",
    ]);
  });
});

describeMatrix("a form's content type", ({ probe }) => {
  it.each([
    ["JSON", "application/json"],
    ["plain text", "text/plain"],
    ["one that only begins like it", "application/x-www-form-urlencoded-not"],
  ])("%s is rejected", async (_case, type) => {
    const answer = await probe({ a: Form() })("/", { body: Buffer.from("a=1"), headers: [["content-type", type]] });
    expect(answer.status).toBe(422);
    expect(answer.faults).toEqual([
      { type: "content_type", loc: ["form"], msg: expect.stringContaining("multipart/form-data"), input: type },
    ]);
  });

  it("is rejected if it is absent, once for all fields", async () => {
    const answer = await probe({ a: Form(), b: Form() })("/", { body: Buffer.from("a=1") });
    expect(faultLines(answer)).toEqual(["content_type form"]);
  });

  it("may have parameters and be in any case", async () => {
    const headers = [["content-type", "Application/X-WWW-Form-Urlencoded; charset=UTF-8"]] as const;
    expect((await probe({ a: Form() })("/", { form: "a=1", headers })).args).toEqual({ a: "1" });
  });
});

describeMatrix("a form's limits", ({ probe }) => {
  it("are 1,000 parts", async () => {
    const ask = probe({ a: Form() });
    expect((await ask("/", { form: Array.from({ length: 1000 }, () => "a=1").join("&") })).status).toBe(200);
    expect((await ask("/", { form: Array.from({ length: 1001 }, () => "a=1").join("&") })).status).toBe(413);
  });

  it("are the bytes of any body", async () => {
    expect((await probe({ a: Form() })("/", { form: `a=${"x".repeat(1024 * 1024)}` })).status).toBe(413);
  });
});
