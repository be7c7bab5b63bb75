import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { App, ConfigurationError, HTTPException } from "../../src/index.js";
import { accessLog, type AccessLogOptions, requestId } from "../../src/middleware/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../test/support/socket-matrix.js";

const create = (options: AccessLogOptions = {}) => {
  const lines: string[] = [];
  const app = new App({
    logger: new KeptLog(),
    instrumentation: accessLog({ write: (line) => void lines.push(line), ...options }),
  });
  app.get("/items/{id}", async ({ id }) => ({ id }));
  app.get("/stream", async function* () {
    yield "é";
    yield 2;
  });
  app.get("/broken", async () => {
    throw new Error("broken");
  });
  app.get("/refused", async () => {
    throw new HTTPException(403);
  });
  return { app, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
};

const TRACEPARENT = ["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"] as const;

describeMatrix("accessLog", ({ call, transport }) => {
  it("writes one line of JSON for each response, with these fields and no other", async () => {
    const { app, lines, parsed } = create();
    app.addMiddleware(requestId({ generate: () => "id-1" }));
    const before = Date.now();
    await call(app, "GET", "/items/5?token=secret", { headers: [TRACEPARENT, ["cookie", "session=secret"]] });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/secret|\n/);
    const [line] = parsed();
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
      method: "GET",
      path: "/items/5",
      route: "/items/{id}",
      status: 200,
      bytes: 10,
      durationMs: expect.any(Number),
      client: "127.0.0.1",
      requestId: "id-1",
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    });
    expect(Date.parse(line!["time"] as string)).toBeGreaterThanOrEqual(before);
    expect(line!["durationMs"]).toBeGreaterThanOrEqual(0);
  });

  it("uses null for missing values, and counts the sent bytes", async () => {
    const { app, parsed } = create();
    for (const path of ["/none", "/stream", "/broken", "/refused"]) await call(app, "GET", path);
    await call(app, "HEAD", "/items/5");
    await call(app, "GET", "/items/5", { headers: [["traceparent", "00-00000000000000000000000000000000-1-01"]] });
    expect(parsed()).toMatchObject([
      { path: "/none", route: null, status: 404, bytes: 22, requestId: null, traceId: null },
      { route: "/stream", status: 200, bytes: 7 },
      { route: "/broken", status: 500 },
      { route: "/refused", status: 403 },
      { method: "HEAD", bytes: 0 },
      { traceId: null },
    ]);
  });

  it("includes the query string if requested", async () => {
    const { app, lines, parsed } = create({ query: true });
    await call(app, "GET", "/items/5?a=1&b=%22");
    expect(parsed()).toMatchObject([{ path: "/items/5", query: "a=1&b=%22" }]);
    expect(Object.keys(JSON.parse(lines[0]!) as object)).toHaveLength(11);
  });

  it("stays one line of visible text for any path", async () => {
    const { app, lines, parsed } = create();
    const path = '/items/%0D%0A%1B[2J%C2%85%E2%80%A8%E2%80%AE"';
    await call(app, "GET", path);
    expect(lines[0]).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(parsed()).toMatchObject([{ path: '/items/\r\n\u001b[2J\u0085\u2028\u202e"' }]);
    await call(app, "GET", "/items/%FF");
    expect(parsed()[1]).toMatchObject({ path: "/items/%FF", status: 400, route: null });
  });

  it("writes Apache's combined format, without query strings, escaped as Apache does", async () => {
    const { app, lines } = create({ format: "combined" });
    const headers = [
      ["referer", "https://a.example/p?token=secret"],
      ["user-agent", 'agent "x" \\ \u00e9'],
    ] as const;
    await call(app, "GET", "/items/%22%0A?token=secret", { headers });
    await call(app, "HEAD", "/items/5");
    const version = transport === "http2" ? "2\\.0" : "1\\.1";
    const time = "\\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:\\d\\d:\\d\\d:\\d\\d \\+0000\\]";
    expect(lines[0]).toMatch(
      new RegExp(
        `^127\\.0\\.0\\.1 - - ${time} "GET /items/%22%0A HTTP/${version}" 200 13 "https://a\\.example/p" ` +
          String.raw`"agent \\"x\\" \\\\ \\xc3\\xa9"$`,
      ),
    );
    expect(lines[1]).toMatch(/"HEAD \/items\/5 HTTP\/[\d.]+" 200 - "-" "/);
  });

  it("includes whole query strings in the combined format if requested", async () => {
    const { app, lines } = create({ format: "combined", query: true });
    await call(app, "GET", "/items/5?a=1", { headers: [["referer", "https://a.example/?q=1"]] });
    expect(lines[0]).toMatch(/"GET \/items\/5\?a=1 HTTP.*"https:\/\/a\.example\/\?q=1"/);
  });
});

describeSocketMatrix("accessLog of a WebSocket", ({ connect, refused }) => {
  it("writes one line when it has ended, or was rejected", async () => {
    const { app, lines, parsed } = create();
    app.websocket("/ws/{room}", async ({ ws }) => {
      await ws.accept();
      await ws.receive();
    });
    const peer = await connect(app, "/ws/a");
    expect(lines).toEqual([]);
    await peer.close();
    await refused(app, "/none");
    expect(parsed()).toMatchObject([
      { method: "GET", path: "/ws/a", route: "/ws/{room}", status: 101, bytes: 0 },
      { path: "/none", route: null, status: 403 },
    ]);
  });
});

describe("accessLog", () => {
  afterEach(() => void jest.restoreAllMocks());

  it("writes to the standard output by default", async () => {
    const written = jest.spyOn(process.stdout, "write").mockReturnValue(true);
    const app = new App({ instrumentation: accessLog() });
    await app(
      { type: "http", method: "GET", path: "/" },
      async () => ({ type: "http.disconnect" }),
      () => {},
    );
    expect(written.mock.calls).toEqual([[expect.stringMatching(/^\{"time":.*"status":404.*\}\n$/)]]);
  });

  it.each([{ format: "apache" }, { write: "stdout" }, { query: 1 }, { querry: true }])("rejects %j", (options) => {
    expect(() => accessLog(options as never)).toThrow(ConfigurationError);
  });
});
