import { describe, expect, it } from "@jest/globals";
import { App, PlainTextResponse, Response, ResponseHeaders } from "../../../src/index.js";
import { httpMiddleware } from "../../../src/middleware/index.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

/** JavaScript has no types that say `set`. */
const asRecord = (headers: ResponseHeaders) => headers as unknown as Record<string, unknown>;

describeMatrix("headers that are written as on a record", ({ call }) => {
  it("are sent, whether a `Response`, the injected one or a middleware set them", async () => {
    const app = new App({
      logger: new KeptLog(),
      middleware: [httpMiddleware(async (_, next) => void (asRecord((await next()).headers)["X-Outer"] = 3))],
    });
    app.get("/", { params: { draft: Response } }, async ({ draft }) => {
      asRecord(draft.headers)["X-Draft"] = "1";
      const response = new PlainTextResponse("hello", { headers: { "x-own": "0" } });
      asRecord(response.headers)["X-Own"] = "2";
      return response;
    });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ text: "hello", headers: { "x-draft": "1", "x-own": "2", "x-outer": "3" } });
  });

  it("are checked like others: a line break is a 500", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { draft: Response } }, async ({ draft }) => {
      asRecord(draft.headers)["x-draft"] = "1\r\nset-cookie: a=b";
    });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 500, json: { detail: "Internal Server Error" } });
    expect(answer.headers).not.toHaveProperty("set-cookie");
  });
});

describe("ResponseHeaders", () => {
  it("compare names without regard to case, and keep the values of a repeated one in their order", () => {
    const headers = new ResponseHeaders({ "X-A": "1" }).append("x-a", "2").set("X-B", "3");
    expect([...headers]).toEqual([
      ["x-a", "1"],
      ["x-a", "2"],
      ["x-b", "3"],
    ]);
    expect([headers.get("X-a"), headers.has("x-B"), headers.get("x-c"), headers.size]).toEqual([
      "1",
      true,
      undefined,
      3,
    ]);
    headers.delete("X-A");
    expect(headers.size).toBe(1);
  });
});
