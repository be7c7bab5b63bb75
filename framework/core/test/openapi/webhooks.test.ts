import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Header, Path } from "../../src/parameters/head.js";
import { t } from "../../src/schema/schema.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { faultsOf } from "./_documents.js";

const Order = t.Object({ id: t.Integer(), late: t.Boolean({ default: false }) }, { $id: "Order" });

describe("a webhook", () => {
  it.each([
    ["3.0", "x-webhooks"],
    ["3.1", "webhooks"],
    ["3.2", "webhooks"],
  ] as const)("is described in the words of a route, in %s under %s", async (openapiVersion, member) => {
    const app = new App({ openapiVersion });
    app.webhooks.post("order.shipped", {
      description: "As soon as it leaves the house.",
      tags: ["orders"],
      params: { order: Order, signature: Header({ alias: "X-Signature" }) },
      returns: t.Object({ ok: t.Boolean() }),
      statusCode: 202,
      responses: { 410: { description: "Send no more" } },
      deprecated: true,
    });
    const document = app.openapi();
    const { post } = document[member]?.["order.shipped"] ?? {};
    expect(post).toMatchObject({
      tags: ["orders"],
      summary: "Order shipped",
      description: "As soon as it leaves the house.",
      operationId: "postOrderShipped",
      parameters: [{ name: "x-signature", in: "header", required: true }],
      requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Order" } } } },
      deprecated: true,
    });
    expect(Object.keys(post?.responses ?? {})).toEqual(["202", "410"]);
    expect(document.tags).toEqual([{ name: "orders" }]);
    expect(document.paths).toEqual({});
    expect(await faultsOf(document)).toEqual([]);
  });

  it("has the id that is chosen for it, by the webhook or by the application", () => {
    const app = new App({ openapiVersion: "3.1", generateOperationId: ({ method, path }) => `${method} ${path}` });
    app.webhooks.post("a", { operationId: "chosen" });
    app.webhooks.put("a");
    expect(app.openapi().webhooks).toMatchObject({
      a: { post: { operationId: "chosen" }, put: { operationId: "PUT a" } },
    });
  });

  it("may have any name", () => {
    const app = new App({ openapiVersion: "3.1" });
    app.webhooks.post("__proto__");
    app.webhooks.post("/orders/{id}");
    expect(Object.keys(app.openapi().webhooks ?? {})).toEqual(["__proto__", "/orders/{id}"]);
  });

  it("is in a document that was requested before", () => {
    const app = new App({ openapiVersion: "3.1" });
    expect(app.openapi()).not.toHaveProperty("webhooks");
    app.webhooks.post("a");
    expect(app.openapi()).toHaveProperty("webhooks.a.post");
  });

  it("is rejected without a name, twice, with an unknown option, or with a parameter that cannot work", () => {
    const app = new App();
    app.webhooks.post("a");
    app.webhooks.put("a");
    expect(() => app.webhooks.post("a")).toThrow(ConfigurationError);
    expect(() => app.webhooks.post("a")).toThrow('webhooks.post("a") is described already.');
    expect(() => app.webhooks.post("")).toThrow(/the name of a webhook is a text/);
    expect(() => app.webhooks.post("b", { body: Order } as object)).toThrow(/webhooks\.post\("b"\).*body/);
    expect(() => app.webhooks.post("c", { params: { id: Path() } })).toThrow(/webhooks\.post\("c"\).*"id"/);
  });

  it("is rejected once the application serves", async () => {
    const app = new App();
    await using client = await TestClient.open(app);
    await client.get("/openapi.json");
    expect(() => app.webhooks.post("a")).toThrow(ConfigurationError);
  });
});
