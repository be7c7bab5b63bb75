import { createHash } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { App, ConfigurationError, HTTPException, PlainTextResponse, Response, t } from "../../src/index.js";
import { compress } from "../../src/middleware/index.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const RESULT = { title: "Hello", text: "ä" };
const TAG = `"${createHash("sha256").update(JSON.stringify(RESULT)).digest("base64url").slice(0, 22)}"`;
const PAST = "Mon, 01 Jan 2024 00:00:00 GMT";
const CHANGED = "Wed, 01 Jan 2025 00:00:00 GMT";
const LATER = "Thu, 01 Jan 2026 00:00:00 GMT";

function create() {
  const app = new App({ logger: new KeptLog() });
  const etag = true;
  app.get("/", { etag }, async () => RESULT);
  app.get("/other", { etag }, async () => ({ ...RESULT, title: "Bye" }));
  app.get("/plain", async () => RESULT);
  app.get("/off", { etag: false }, async () => RESULT);
  app.get("/cut", { etag, returns: t.Object({ title: t.String(), text: t.String() }) }, async () => ({
    ...RESULT,
    secret: Math.random(),
  }));
  app.get("/dated", { etag, params: { response: Response } }, async ({ response }) => {
    response.headers.set("last-modified", CHANGED);
    response.headers.set("cache-control", "private, no-cache");
    response.headers.set("content-language", "de");
    response.headers.set("content-location", "/dated.json");
    response.setCookie("seen", "1");
    return RESULT;
  });
  app.get("/own", { etag, params: { response: Response } }, async ({ response }) => {
    response.headers.set("etag", 'W/"v5"');
    return RESULT;
  });
  app.get("/gone", { etag, params: { response: Response } }, async ({ response }) => {
    response.statusCode = 410;
    return RESULT;
  });
  app.get("/created", { etag, statusCode: 203 }, async () => RESULT);
  app.get("/empty", { etag, statusCode: 204 }, async () => null);
  app.get("/response", { etag }, async () => new PlainTextResponse("as it is"));
  app.get("/fails", { etag }, async () => {
    throw new HTTPException(404);
  });
  app.get("/sync", { etag, pool: false }, () => RESULT);
  return app;
}

type Row = readonly [status: number, headers: Record<string, string>, rule: string];

/** The order of RFC 9110 §13.2.2, and the comparison of §8.8.3.2. */
const rows: Row[] = [
  [200, {}, "§13.2: no condition"],
  [200, { "if-none-match": '"other"' }, "§13.1.2: another tag"],
  [304, { "if-none-match": TAG }, "§13.1.2: the tag"],
  [304, { "if-none-match": `W/${TAG}` }, "§13.1.2: a weak comparison"],
  [304, { "if-none-match": `"a", W/"b",${TAG} , "c"` }, "§13.1.2: a list"],
  [304, { "if-none-match": "*" }, "§13.1.2: any"],
  [200, { "if-none-match": `"a${TAG.slice(1)}` }, "§8.8.3.2: not a part of a tag"],
  [200, { "if-none-match": TAG.slice(1, -1) }, "§8.8.3: a tag without quotes"],
  [200, { "if-none-match": `"a, ${TAG.slice(1)}` }, "§8.8.3: a comma in a tag"],
  [200, { "if-none-match": "" }, "§13.1.2: an empty list"],
  [200, { "if-none-match": `w/${TAG}` }, "§8.8.3: W is case-sensitive"],
  [200, { "if-match": TAG }, "§13.1.1: the tag"],
  [200, { "if-match": `"a", ${TAG}` }, "§13.1.1: a list"],
  [200, { "if-match": "*" }, "§13.1.1: any"],
  [412, { "if-match": '"other"' }, "§13.1.1: another tag"],
  [412, { "if-match": `W/${TAG}` }, "§13.1.1: a strong comparison"],
  [412, { "if-match": '"other"', "if-none-match": TAG }, "§13.2.2: If-Match is first"],
  [304, { "if-match": TAG, "if-none-match": TAG }, "§13.2.2: If-None-Match is next"],
  [200, { "if-modified-since": LATER }, "§13.1.3: ignored without Last-Modified"],
  [200, { "if-unmodified-since": PAST }, "§13.1.4: ignored without Last-Modified"],
  [304, { "if-none-match": TAG, "if-modified-since": PAST }, "§13.1.3: ignored with If-None-Match"],
  [200, { "if-none-match": '"other"', "if-modified-since": LATER }, "§13.1.3: ignored with If-None-Match"],
  [200, { "if-match": TAG, "if-unmodified-since": PAST }, "§13.1.4: ignored with If-Match"],
  [200, { "if-range": TAG, range: "bytes=0-1" }, "§14.2: Range is ignored"],
];

const datedRows: Row[] = [
  [304, { "if-modified-since": CHANGED }, "§13.1.3: not changed since"],
  [304, { "if-modified-since": LATER }, "§13.1.3: not changed since"],
  [200, { "if-modified-since": PAST }, "§13.1.3: changed since"],
  [200, { "if-modified-since": "yesterday" }, "§13.1.3: an invalid date is ignored"],
  [412, { "if-unmodified-since": PAST }, "§13.1.4: changed since"],
  [200, { "if-unmodified-since": LATER }, "§13.1.4: not changed since"],
  [304, { "if-none-match": TAG, "if-unmodified-since": LATER }, "§13.2.2: the order"],
  [412, { "if-none-match": TAG, "if-unmodified-since": PAST }, "§13.2.2: the order"],
];

describeMatrix("etag: true", ({ call }) => {
  const app = create();

  it.each(rows)("responds with %i to %j (%s)", async (status, headers) => {
    for (const method of ["GET", "HEAD"]) {
      const response = await call(app, method, "/", { headers: Object.entries(headers) });
      expect(response.status).toBe(status);
      if (status !== 412) expect(response.headers["etag"]).toBe(TAG);
      if (method === "GET" && status === 200) expect(response.json).toEqual(RESULT);
      if (status === 304) expect(response.text).toBe("");
      if (method === "GET" && status === 412) expect(response.json).toEqual({ detail: "Precondition Failed" });
    }
  });

  it.each(datedRows)(
    "with Last-Modified of the injected Response, responds with %i to %j (%s)",
    async (status, headers) => {
      const response = await call(app, "GET", "/dated", { headers: Object.entries(headers) });
      expect(response.status).toBe(status);
    },
  );

  it("adds the tag to the headers of a result", async () => {
    expect((await call(app, "GET", "/")).headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(JSON.stringify(RESULT))),
      etag: TAG,
    });
  });

  it("has another tag for another result, and the same for the same", async () => {
    const tagOf = async (path: string) => (await call(app, "GET", path)).headers["etag"];
    expect(await tagOf("/other")).toMatch(/^"[\w-]{22}"$/);
    expect(await tagOf("/other")).not.toBe(TAG);
    expect(await tagOf("/other")).toBe(await tagOf("/other"));
    expect(await tagOf("/sync")).toBe(TAG);
  });

  it("does not depend on properties that are removed from the result", async () => {
    expect((await call(app, "GET", "/cut")).headers["etag"]).toBe(TAG);
  });

  it("sends the headers of the injected Response with 304, except headers of the body", async () => {
    const { headers, status } = await call(app, "GET", "/dated", { headers: [["if-none-match", TAG]] });
    expect(status).toBe(304);
    expect(headers).toMatchObject({
      etag: TAG,
      "cache-control": "private, no-cache",
      "content-location": "/dated.json",
      "last-modified": CHANGED,
      "set-cookie": expect.stringContaining("seen=1"),
    });
    for (const name of ["content-type", "content-length", "content-language"]) expect(headers).not.toHaveProperty(name);
  });

  it("uses a tag of the injected Response", async () => {
    expect((await call(app, "GET", "/own")).headers["etag"]).toBe('W/"v5"');
    expect((await call(app, "GET", "/own", { headers: [["if-none-match", '"v5"']] })).status).toBe(304);
    expect((await call(app, "GET", "/own", { headers: [["if-match", 'W/"v5"']] })).status).toBe(412);
  });

  it.each([
    ["/gone", 410, RESULT],
    ["/fails", 404, { detail: "Not Found" }],
    ["/empty", 204, undefined],
    ["/plain", 200, RESULT],
    ["/off", 200, RESULT],
    ["/response", 200, undefined],
  ])("%s has no tag, and ignores conditions", async (path, status, json) => {
    const response = await call(app, "GET", path, { headers: [["if-match", '"other"']] });
    expect(response).toMatchObject({ status, json });
    expect(response.headers).not.toHaveProperty("etag");
  });

  it("tags every success with a body", async () => {
    expect(await call(app, "GET", "/created")).toMatchObject({ status: 203, headers: { etag: TAG } });
    expect((await call(app, "GET", "/created", { headers: [["if-none-match", TAG]] })).status).toBe(304);
  });
});

describe("etag: true", () => {
  it("is weak if the response is compressed, and still matches", async () => {
    const app = new App({ middleware: [compress({ minimumSize: 1 })] });
    app.get("/", { etag: true }, async () => RESULT);
    const accept = ["accept-encoding", "gzip"] as const;
    const compressed = await callInMemory(app, "GET", "/", { headers: [accept] });
    expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", etag: `W/${TAG}` });
    const again = await callInMemory(app, "GET", "/", { headers: [accept, ["if-none-match", `W/${TAG}`]] });
    expect(again).toMatchObject({ status: 304, text: "" });
  });

  it("calls the exception handler for 412", async () => {
    const app = new App({ exceptionHandlers: [[412, () => ({ message: "Changed" })]] });
    app.get("/", { etag: true }, async () => RESULT);
    const response = await callInMemory(app, "GET", "/", { headers: [["if-match", '"a"']] });
    expect(response).toMatchObject({ status: 412, json: { message: "Changed" } });
  });

  it("is in the OpenAPI document", () => {
    const app = new App();
    app.get("/", { etag: true }, async () => RESULT);
    const responses = app.openapi().paths["/"]?.get?.responses;
    expect(Object.keys({ ...responses })).toEqual(["200", "304", "412"]);
    expect(responses).toMatchObject({
      200: { headers: { ETag: { schema: { type: "string" } } } },
      304: { description: "Not Modified", headers: { ETag: {} } },
      412: { content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPError" } } } },
    });
    expect(responses?.["304"]).not.toHaveProperty("content");
  });

  it.each<[string, (app: App) => void]>([
    ["POST", (app) => app.post("/", { etag: true }, async () => null)],
    ["HEAD", (app) => app.head("/", { etag: true }, async () => null)],
    ["GET and PUT", (app) => app.route("/", { etag: true, methods: ["GET", "PUT"] }, async () => null)],
    ["a WebSocket", (app) => app.websocket("/", { etag: true }, async ({ ws }) => ws.accept())],
    [
      "JSON lines",
      (app) =>
        app.get("/", { etag: true }, async function* () {
          yield 1;
        }),
    ],
    ["events", (app) => app.get("/", { etag: true, stream: "sse" }, async () => [])],
    ["text", (app) => app.get("/", { etag: "yes" as never }, async () => null)],
    ["a misspelling", (app) => app.get("/", { eTag: true } as object, async () => null)],
  ])("throws for %s", (_, register) => {
    expect(() => register(new App())).toThrow(ConfigurationError);
    expect(() => register(new App())).toThrow(/etag/);
  });
});
