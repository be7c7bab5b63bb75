import { expect, it } from "@jest/globals";
import { App, ConfigurationError, HTTPException, Request } from "../../src/index.js";
import { accessLog, requestId, type RequestIdOptions } from "../../src/middleware/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { describeSocketMatrix } from "../../../test/support/socket-matrix.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function create(options?: RequestIdOptions) {
  const fields: object[] = [];
  const ignore = () => {};
  const logger = { debug: ignore, info: ignore, warn: ignore, error: (given: object) => void fields.push(given) };
  const app = new App({ logger, middleware: [requestId(options)] });
  app.get("/", { params: { request: Request } }, async ({ request }) => request.state["requestId"]);
  app.get("/broken", async () => {
    throw new Error("broken");
  });
  return { app, fields };
}

describeMatrix("requestId", ({ call }) => {
  it("assigns each request a separate UUID, in its state and in the response", async () => {
    const { app } = create();
    const first = await call(app, "GET", "/");
    const second = await call(app, "GET", "/");
    for (const { headers, json } of [first, second]) {
      expect(headers["x-request-id"]).toMatch(UUID);
      expect(json).toBe(headers["x-request-id"]);
    }
    expect(first.json).not.toBe(second.json);
  });

  it("is in error responses, and in their log entries", async () => {
    const { app, fields } = create();
    const { status, headers } = await call(app, "GET", "/broken");
    expect(status).toBe(500);
    expect(fields).toEqual([expect.objectContaining({ requestId: headers["x-request-id"], path: "/broken" })]);
  });

  it("ignores the id that a client sends", async () => {
    const { headers } = await call(create().app, "GET", "/", { headers: [["x-request-id", "mine"]] });
    expect(headers["x-request-id"]).toMatch(UUID);
  });

  it.each<[string, string[], boolean]>([
    ["an id", ["abc-123:4/5_6=@+."], true],
    ["one of 128 characters", ["a".repeat(128)], true],
    ["one that is longer", ["a".repeat(129)], false],
    ["one with a space", ["a b"], false],
    ["one that would forge a field of a log line", ['a",level:"error'], false],
    ["one with a letter of latin-1", ["\u00e9"], false],
    ["an empty one", [""], false],
    ["two", ["a", "b"], false],
  ])("accepts %s if incoming ones are trusted and valid: %j, %s", async (_, values, isTaken) => {
    const { app } = create({ trustIncoming: true });
    const { headers, json } = await call(app, "GET", "/", {
      headers: values.map((id) => ["x-request-id", id] as const),
    });
    expect(headers["x-request-id"] === values[0]).toBe(isTaken);
    expect(json).toBe(headers["x-request-id"]);
    if (!isTaken) expect(json).toMatch(UUID);
  });

  it("has the configured header and ids", async () => {
    const { app } = create({ header: "Trace-Id", generate: () => "42" });
    expect((await call(app, "GET", "/")).headers).toMatchObject({ "trace-id": "42" });
  });
});

describeSocketMatrix("requestId of a WebSocket", ({ connect, refused }) => {
  it("is in its state, in the headers of the handshake or of its rejection, and in the access log", async () => {
    const lines: string[] = [];
    const instrumentation = accessLog({ write: (line) => void lines.push(line) });
    const app = new App({ instrumentation, middleware: [requestId()] });
    app.websocket("/open", async ({ ws }) => {
      await ws.accept({ headers: { "x-own": "1" } });
      await ws.sendText(String(ws.state["requestId"]));
      await ws.receive();
    });
    app.websocket("/closed", async () => {
      throw new HTTPException(403);
    });
    const peer = await connect(app, "/open");
    const id = peer.headers["x-request-id"];
    expect(peer.headers).toMatchObject({ "x-own": "1", "x-request-id": expect.stringMatching(UUID) });
    expect(await peer.receiveText()).toBe(id);
    await peer.close();
    const { statusCode, headers } = await refused(app, "/closed");
    expect({ statusCode, headers }).toMatchObject({
      statusCode: 403,
      headers: { "x-request-id": expect.stringMatching(UUID) },
    });
    expect(lines.map((line) => JSON.parse(line).requestId)).toEqual([id, headers["x-request-id"]]);
  });
});

it.each<[unknown, RegExp]>([
  [{ header: "X Id" }, /should be the name of a header, such as "X-Request-ID", not "X Id"/],
  [{ trust: true }, /no option "trust"/],
])("requestId rejects %j when it is created", (options, message) => {
  const make = () => requestId(options as RequestIdOptions);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});
