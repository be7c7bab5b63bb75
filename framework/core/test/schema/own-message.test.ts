import { describe, expect, it } from "@jest/globals";
import { App, Body, Form, Query, t } from "../../src/index.js";
import { buildDocument } from "../../src/openapi/document.js";
import { endpointsOf } from "../../src/internals.js";
import { call, type Sent } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const CODE = "A code has three capital letters.";
const Code = t.String({ pattern: "^[A-Z]{3}$", errorMessage: CODE });

/** The errors of a request, in short. */
async function errorsOf(app: App, ...request: [method: string, target: string, sent?: Sent]) {
  const { status, faults } = await call(app, ...request);
  return [status, ...faults.map(({ loc, type, msg }) => `${loc.join(".")} ${type}: ${msg}`)];
}

describe("a schema with a custom message", () => {
  it.each([
    ["query", Query(Code), "/?code=abc", {}],
    ["form", Form(Code), "/", { form: "code=abc" }],
    ["body", Body(Code), "/", { json: "abc" }],
  ] as const)("shows it in the 422 for a %s", async (place, code, target, sent) => {
    const app = new App();
    app.post("/", { params: { code } }, async (args) => args.code);
    const loc = place === "body" ? "body" : `${place}.code`;
    expect(await errorsOf(app, "POST", target, sent)).toEqual([422, `${loc} string_pattern_mismatch: ${CODE}`]);
  });

  it("uses it for every error that the schema itself finds, including errors of a conversion", async () => {
    const app = new App();
    const size = t.Integer({ minimum: 1, errorMessage: "Choose a size from 1." });
    app.get("/", { params: { size: Query(size), sizes: Query(t.Array(size)) } }, async ({ size: one }) => one);
    expect(await errorsOf(app, "GET", "/?size=x&sizes=1&sizes=x")).toEqual([
      422,
      "query.size int_parsing: Choose a size from 1.",
      "query.sizes.1 int_parsing: Choose a size from 1.",
    ]);
    expect(await errorsOf(app, "GET", "/?size=0&sizes=0")).toEqual([
      422,
      "query.size greater_than_equal: Choose a size from 1.",
      "query.sizes.0 greater_than_equal: Choose a size from 1.",
    ]);
  });

  it("does not replace the messages of nested schemas and of missing values", async () => {
    const app = new App();
    const item = t.Object({ code: Code, name: t.String() }, { errorMessage: "An item is an object." });
    app.post("/", { params: { item: Body(item) } }, async ({ item: { name } }) => name);
    expect(await errorsOf(app, "POST", "/", { json: [] })).toEqual([422, "body object_type: An item is an object."]);
    expect(await errorsOf(app, "POST", "/", { json: { code: "abc" } })).toEqual([
      422,
      `body.code string_pattern_mismatch: ${CODE}`,
      "body.name missing: Field required",
    ]);
  });

  it("has one for each type of error, and the usual one for the others", async () => {
    const app = new App();
    const name = t.String({ minLength: 2, pattern: "^[a-z]+$", errorMessage: { string_pattern_mismatch: "a to z" } });
    app.get("/", { params: { name: Query(name) } }, async (args) => args.name);
    expect(await errorsOf(app, "GET", "/?name=A1")).toEqual([422, "query.name string_pattern_mismatch: a to z"]);
    expect(await errorsOf(app, "GET", "/?name=a")).toEqual([
      422,
      "query.name string_too_short: String should have at least 2 characters",
    ]);
  });

  it("has one for a union, a reference and a transform", async () => {
    const app = new App();
    const models = t.Module({ Code, Named: t.Object({ code: t.Ref("Code") }) });
    const either = t.Union([t.Literal("a"), t.Object({})], { errorMessage: "a, or an object" });
    const even = t
      .Transform(t.Integer({ errorMessage: "An even number." }))
      .Decode((value) => {
        if (value % 2 === 1) throw new RangeError("odd");
        return value;
      })
      .Encode((value) => value);
    const all = t.Object({ named: models.Import("Named"), either, even });
    app.post("/", { params: { all: Body(all) } }, async () => null);
    const json = { named: { code: "abc" }, either: 1, even: 3 };
    expect(await errorsOf(app, "POST", "/", { json })).toEqual([
      422,
      `body.named.code string_pattern_mismatch: ${CODE}`,
      "body.either union_error: a, or an object",
      "body.even value_error: An even number.",
    ]);
  });

  it("logs it for a result", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    const returns = t.Object({ code: Code }, { errorMessage: "No object." });
    app.get("/{kind}", { returns }, async ({ kind }) => (kind === "none" ? (null as never) : { code: kind }));
    for (const [kind, message] of [["abc", CODE] as const, ["none", "No object."] as const]) {
      expect((await call(app, "GET", `/${kind}`)).status).toBe(500);
      expect(logger.lines.at(-1)).toContain(message);
    }
  });

  it.each(["3.0", "3.1", "3.2"] as const)("keeps it out of a document of OpenAPI %s", (openapiVersion) => {
    const app = new App({ openapiVersion });
    app.post("/", { params: { item: Body(t.Object({ code: Code })) }, returns: Code }, async () => "ABC");
    const document = JSON.stringify(buildDocument({ title: "", version: "", openapiVersion }, endpointsOf(app)));
    expect(document).toContain("^[A-Z]{3}$");
    expect(document).not.toContain("errorMessage");
    expect(document).not.toContain("three capital letters");
  });

  it.each([1, null, { pattern: "a to z" }, { string_pattern_mismatch: 1 }])("rejects %j", (errorMessage) => {
    const params = { code: Query(t.String({ errorMessage })) };
    const register = () => new App().get("/", { params }, async ({ code }) => code);
    expect(register).toThrow(expect.objectContaining({ code: "TSGI_INVALID_ERROR_MESSAGE" }));
  });
});
