import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Header } from "../../src/parameters/head.js";
import type { Callbacks } from "../../src/routing/options.js";
import { t } from "../../src/schema/schema.js";
import { faultsOf, operation } from "./_documents.js";

const Order = t.Object({ callback_url: t.String({ format: "uri" }) }, { $id: "Order" });
const Shipment = t.Object({ order: t.Integer(), late: t.Boolean({ default: false }) }, { $id: "Shipment" });

const ADDRESS = "{$request.body#/callback_url}/shipped";

function appWith(callbacks: Callbacks): App {
  const app = new App();
  app.post("/orders", { params: { order: Order }, callbacks }, async () => null);
  return app;
}

describe("the callbacks of a route", () => {
  it("are described in the words of a route", async () => {
    const app = appWith({
      orderShipped: {
        [ADDRESS]: {
          post: {
            description: "As soon as it leaves the house.",
            params: { shipment: Shipment, signature: Header({ description: "HMAC of the body." }) },
            returns: t.Object({ ok: t.Boolean() }),
            statusCode: 202,
            responses: { 410: { description: "Never again" } },
            deprecated: true,
          },
        },
      },
    });
    const callback = operation(app, "/orders", "post").callbacks?.["orderShipped"]?.[ADDRESS]?.post;
    expect(callback).toMatchObject({
      summary: "Order shipped",
      description: "As soon as it leaves the house.",
      operationId: "postOrdersOrderShipped",
      parameters: [{ name: "signature", in: "header", required: true, description: "HMAC of the body." }],
      requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Shipment" } } } },
      deprecated: true,
    });
    expect(Object.keys(callback?.responses ?? {})).toEqual(["202", "410"]);
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("have separate operation ids", () => {
    const app = appWith({ done: { [ADDRESS]: { post: {}, put: {} }, "{$url}": { post: { operationId: "chosen" } } } });
    const { done } = operation(app, "/orders", "post").callbacks ?? {};
    const ids = Object.values(done ?? {}).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    expect(ids).toEqual(["postOrdersDone", "postOrdersDone2", "chosen"]);
  });

  it("with an invalid parameter are a ConfigurationError that contains the route", () => {
    const wrong = appWith({ done: { [ADDRESS]: { post: { params: { a: "text" as never } } } } });
    expect(() => wrong.openapi()).toThrow(ConfigurationError);
    expect(() => wrong.openapi()).toThrow(/^POST \/orders: .*parameter "a"/);
    const method = appWith({ done: { [ADDRESS]: { fetch: {} } as never } });
    expect(() => method.openapi()).toThrow(/^POST \/orders, callback "done", fetch .*no such method/);
  });
});
