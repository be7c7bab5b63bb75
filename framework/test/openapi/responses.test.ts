import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app.js";
import { ConfigurationError } from "../../src/exceptions.js";
import { type ResponseDocs, Router } from "../../src/router.js";
import { t } from "../../src/schema.js";
import { faultsOf, operation } from "./_documents.js";

const Item = t.Object({ name: t.String() }, { $id: "Item" });
const ITEM = { $ref: "#/components/schemas/Item" };

function responsesWith(responses: ResponseDocs, returns?: typeof Item) {
  const app = new App();
  app.get("/", { responses, ...(returns ? { returns } : {}) }, async () => ({ name: "" }));
  return { app, responses: operation(app, "/").responses };
}

describe("the responses that a route lists", () => {
  it("have a schema, examples and headers", async () => {
    const { app, responses } = responsesWith({
      404: {
        schema: Item,
        examples: [{ name: "a" }, { name: "b" }],
        headers: { "X-Reason": { description: "Why", schema: t.Integer() }, "X-Plain": {} },
      },
    });
    expect(responses["404"]).toEqual({
      description: "Not Found",
      headers: {
        "X-Reason": { description: "Why", schema: { type: "integer" } },
        "X-Plain": { schema: { type: "string" } },
      },
      content: {
        "application/json": { schema: ITEM, examples: { 1: { value: { name: "a" } }, 2: { value: { name: "b" } } } },
      },
    });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("may have bodies in other media types, beside the JSON of `returns` or instead of the JSON that nobody described", () => {
    const content = { "text/csv": { examples: ["name\na"] }, "image/png": { schema: t.String({ format: "binary" }) } };
    const written = {
      "text/csv": { example: "name\na" },
      "image/png": { schema: { type: "string", format: "binary" } },
    };
    expect(responsesWith({ 200: { content } }).responses["200"]?.content).toEqual(written);
    expect(responsesWith({ 200: { content } }, Item).responses["200"]?.content).toEqual({
      "application/json": { schema: ITEM },
      ...written,
    });
  });

  it("may stand for all that begin with a digit, and for every other one", async () => {
    const { app, responses } = responsesWith({ default: { schema: Item }, "5XX": { description: "Ours" }, 404: {} });
    expect(Object.entries(responses).map(([status, { description }]) => [status, description])).toEqual([
      ["200", "OK"],
      ["404", "Not Found"],
      ["5XX", "Ours"],
      ["default", "Any other answer"],
    ]);
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("are those of the routers around it besides", () => {
    const app = new App();
    const router = new Router({ responses: { default: { description: "Sorry" }, 404: { description: "Outer" } } });
    router.get("/", { responses: { 404: { description: "Inner" } } }, async () => null);
    app.includeRouter(router);
    const { 404: missing, default: other } = operation(app, "/").responses;
    expect([missing?.description, other?.description]).toEqual(["Inner", "Sorry"]);
  });

  it.each(["99", "600", "2xx", "ok", "6XX"])("of the status %s are a ConfigurationError", (status) => {
    const wrong = () => responsesWith({ [status]: {} });
    expect(wrong).toThrow(ConfigurationError);
    expect(wrong).toThrow(/^GET \/: `responses` takes statuses such as 404/);
  });
});
