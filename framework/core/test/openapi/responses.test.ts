import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Query } from "../../src/parameters/head.js";
import type { ResponseDocs } from "../../src/parameters/annotation.js";
import { Router } from "../../src/routing/router.js";
import { t } from "../../src/schema/schema.js";
import { HTTPBearer } from "../../src/parameters/security/http.js";
import { Security } from "../../src/parameters/depends.js";
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

  it("may have bodies in other media types, in addition to the JSON of `returns` or instead of JSON", () => {
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
      ["default", "Any other response"],
    ]);
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("include the responses of the routers around it", () => {
    const app = new App();
    const router = new Router({ responses: { default: { description: "Sorry" }, 404: { description: "Outer" } } });
    router.get("/", { responses: { 404: { description: "Inner" } } }, async () => null);
    app.includeRouter(router);
    const { 404: missing, default: other } = operation(app, "/").responses;
    expect([missing?.description, other?.description]).toEqual(["Inner", "Sorry"]);
  });

  it("include the responses of the App, but the routers' and the route's take precedence", () => {
    const app = new App({ responses: { 404: { description: "App" }, 410: { description: "App" }, default: {} } });
    const router = new Router({ responses: { 404: { description: "Router" } } });
    router.get("/", { responses: { 410: { description: "Route" } } }, async () => null);
    app.includeRouter(router);
    const described = Object.entries(operation(app, "/").responses).map(([status, { description }]) => [
      status,
      description,
    ]);
    expect(described).toEqual([
      ["200", "OK"],
      ["404", "Router"],
      ["410", "Route"],
      ["default", "Any other response"],
    ]);
  });

  it("replace the bodies of the framework's 401 and 422, whose components are then omitted", async () => {
    const Problem = t.Object({ title: t.String() });
    const content = { "application/problem+json": { schema: Problem } };
    const app = new App({ responses: { 401: { content }, 422: { content } } });
    const params = { user: Security(new HTTPBearer()), page: Query(t.Integer()) };
    app.get("/", { params }, async () => null);
    app.get("/other", { params, responses: { 422: { schema: Problem } } }, async () => null);
    const written = {
      "application/problem+json": {
        schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
      },
    };
    const { 401: unauthorized, 422: invalid } = operation(app, "/").responses;
    expect(unauthorized).toMatchObject({ headers: { "WWW-Authenticate": {} }, content: written });
    expect([unauthorized?.content, invalid?.content]).toEqual([written, written]);
    expect(operation(app, "/other").responses["422"]?.content).toEqual({
      "application/json": Object.values(written)[0],
    });
    expect(app.openapi().components?.schemas).toBeUndefined();
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it.each(["99", "600", "2xx", "ok", "6XX"])("of the status %s are a ConfigurationError", (status) => {
    const wrong = () => responsesWith({ [status]: {} });
    expect(wrong).toThrow(ConfigurationError);
    expect(wrong).toThrow(/^GET \/: `responses` takes statuses such as 404/);
  });
});
