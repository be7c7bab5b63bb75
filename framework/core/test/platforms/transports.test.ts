/**
 * One application with a route of each kind, over every transport. The other tests of `describeMatrix` run only in memory,
 * unless `TSGI_SLOW` is set.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  Cookie,
  Depends,
  File,
  FileResponse,
  Form,
  Header,
  HTTPException,
  RedirectResponse,
  Request,
  Response,
  StaticFiles,
  t,
  WebSocketException,
  withParams,
} from "../../src/index.js";
import { compress, cors, decompress, requestId, sessionOf, sessions } from "../../src/middleware/index.js";
import type { Sent } from "../../../test/support/call.js";
import { createFolder } from "../../../test/support/folder.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix, type MatrixClient, type Transport } from "../../../test/support/matrix.js";
import { multipart } from "../../../test/support/multipart.js";
import { describeSocketMatrix } from "../../../test/support/socket-matrix.js";

const ALL: readonly Transport[] = ["memory", "socket", "http2", "fetch"];
const MiB = 2 ** 20;

const folder = createFolder({ "digits.txt": "0123456789".repeat(100) });
writeFileSync(path.join(folder, "large.bin"), Buffer.alloc(3 * MiB, "x"));

/** The effects of the last request. */
interface Effects {
  readonly lines: string[];
}

function addParams(app: App): void {
  app.get(
    "/items/{name}",
    { params: { name: t.String(), n: t.Array(t.Integer()), "x-tag": Header(), session: Cookie({ default: null }) } },
    async (args) => args,
  );
  app.post(
    "/json",
    { params: { body: t.Object({ n: t.Integer() }) }, returns: t.Object({ n: t.Integer() }) },
    async (args) => {
      return { ...args.body, secret: 1 };
    },
  );
  app.post("/form", { params: { a: Form(), b: Form({ default: "none" }) } }, async (args) => args);
  app.post("/upload", { params: { f: File(), a: Form() } }, async ({ f, a }) => ({
    a,
    name: f.filename,
    size: f.size,
    last: (await f.read()).at(-1),
  }));
  app.post("/bytes", { params: { request: Request } }, async ({ request }) => (await request.body()).length);
}

function addResponses(app: App): void {
  app.get("/empty", { statusCode: 204 }, async () => null);
  app.get("/moved", async () => new RedirectResponse("/empty", { statusCode: 303 }));
  app.get("/latin1", async () => {
    const response = new Response(new Uint8Array([0, 255]), { statusCode: 299, mediaType: "application/octet-stream" });
    response.setCookie("a", "1");
    response.setCookie("b", "2");
    return response;
  });
  app.get("/lines", async function* () {
    yield { n: 1 };
    yield "two";
  });
  app.get("/events", { stream: "sse" }, async function* () {
    yield "one";
    yield { n: 2 };
  });
  app.get("/file", async () => new FileResponse(path.join(folder, "digits.txt")));
  app.get("/text", async () => "x".repeat(2000));
  app.mount("/static", new StaticFiles(folder));
}

function addEnds(app: App, { lines }: Effects): void {
  const resource = withParams({}, async function* () {
    try {
      yield "open";
    } finally {
      lines.push("closed");
    }
  });
  app.get("/tasks", { params: { it: Depends(resource), tasks: BackgroundTasks } }, async ({ it: state, tasks }) => {
    tasks.addTask(() => void lines.push("task"));
    return state;
  });
  app.get("/teapot", { params: { it: Depends(resource) } }, async () => {
    throw new HTTPException(418, "short and stout", { headers: { "x-pot": "1" } });
  });
  app.get("/broken", { params: { it: Depends(resource) } }, async () => {
    throw new TypeError("broken");
  });
  app.get("/slow", { limits: { handlerMs: 1 }, params: { signal: AbortSignal } }, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    lines.push("aborted");
  });
  app.get("/visits", { params: { request: Request } }, async ({ request }) => {
    const session = sessionOf(request);
    session["visits"] = Number(session["visits"] ?? 0) + 1;
    return session["visits"];
  });
}

function create() {
  const log = new KeptLog();
  const effects: Effects = { lines: [] };
  const app = new App({
    logger: log,
    limits: { bodyBytes: 4 * MiB },
    middleware: [
      requestId(),
      cors({ allowOrigins: ["https://a.example"] }),
      sessions({ secret: "x".repeat(32) }),
      compress({ minimumSize: 1000 }),
      decompress(),
    ],
  });
  addParams(app);
  addResponses(app);
  addEnds(app, effects);
  return { app, log, lines: effects.lines };
}

interface Row {
  readonly what: string;
  readonly request: readonly [method: string, target: string, sent?: Sent];
  readonly response: Readonly<Record<string, unknown>>;
  /** The effects, with the lines of the log. */
  readonly lines?: readonly string[];
}

const upload = multipart(["a", "text"], ["f", { filename: "f.bin", content: Buffer.alloc(2 * MiB, 7) }]);

const rows: readonly Row[] = [
  {
    what: "parameters of the path, the query, a header and a cookie",
    request: [
      "GET",
      "/items/a%2Fb%20%C3%A9?n=1&n=2",
      {
        headers: [
          ["x-tag", "t"],
          ["cookie", "session=s; other=o"],
        ],
      },
    ],
    response: { status: 200, json: { name: "a/b é", n: [1, 2], "x-tag": "t", session: "s" } },
  },
  {
    what: "parameters that do not fit",
    request: ["GET", "/items/a?n=x"],
    response: { status: 422, faults: [{ loc: ["query", "n", 0] }, { loc: ["header", "x-tag"] }] },
  },
  { what: "JSON", request: ["POST", "/json", { json: { n: 1 } }], response: { status: 200, json: { n: 1 } } },
  {
    what: "JSON in chunks",
    request: [
      "POST",
      "/json",
      { headers: [["content-type", "application/json"]], chunks: [Buffer.from('{"n":'), Buffer.from("2}")] },
    ],
    response: { status: 200, json: { n: 2 } },
  },
  {
    what: "JSON that ends early",
    request: ["POST", "/json", { text: '{"n":' }],
    response: { status: 422, faults: [{ type: "json_invalid" }] },
  },
  {
    what: "a compressed body",
    request: [
      "POST",
      "/json",
      {
        headers: [
          ["content-type", "application/json"],
          ["content-encoding", "gzip"],
        ],
        body: gzipSync('{"n":3}'),
      },
    ],
    response: { status: 200, json: { n: 3 } },
  },
  {
    what: "a form",
    request: ["POST", "/form", { form: [["a", "é &="]] }],
    response: { status: 200, json: { a: "é &=", b: "none" } },
  },
  {
    what: "an upload",
    request: ["POST", "/upload", upload],
    response: { status: 200, json: { a: "text", name: "f.bin", size: 2 * MiB, last: 7 } },
  },
  {
    what: "a body of 2 MiB",
    request: ["POST", "/bytes", { body: new Uint8Array(2 * MiB) }],
    response: { status: 200, json: 2 * MiB },
  },
  {
    what: "a body beyond its limit, in chunks",
    request: ["POST", "/bytes", { chunks: Array.from({ length: 5 }, () => new Uint8Array(MiB)) }],
    response: { status: 413 },
  },
  { what: "an unknown path", request: ["GET", "/none"], response: { status: 404, json: { detail: "Not Found" } } },
  {
    what: "a method without a route",
    request: ["DELETE", "/json"],
    response: { status: 405, headers: { allow: "POST" } },
  },
  {
    what: "HEAD",
    request: ["HEAD", "/text"],
    response: { status: 200, text: "", headers: { "content-length": "2002" } },
  },
  { what: "a 204", request: ["GET", "/empty"], response: { status: 204, text: "" } },
  { what: "a redirect", request: ["GET", "/moved"], response: { status: 303, headers: { location: "/empty" } } },
  {
    what: "bytes with two cookies",
    request: ["GET", "/latin1"],
    response: {
      status: 299,
      body: Buffer.from([0, 255]),
      headerLines: expect.arrayContaining([
        ["set-cookie", expect.stringMatching(/^a=1/)],
        ["set-cookie", expect.stringMatching(/^b=2/)],
      ]),
    },
  },
  {
    what: "a stream of lines",
    request: ["GET", "/lines"],
    response: { status: 200, text: '{"n":1}\n"two"\n', headers: { "content-type": "application/jsonl" } },
  },
  {
    what: "a stream of events",
    request: ["GET", "/events"],
    response: { status: 200, text: 'data: one\n\ndata: {"n":2}\n\n' },
  },
  {
    what: "a file",
    request: ["GET", "/file"],
    response: { status: 200, text: "0123456789".repeat(100), headers: { "content-length": "1000" } },
  },
  {
    what: "a range of a file",
    request: ["GET", "/file", { headers: [["range", "bytes=998-"]] }],
    response: { status: 206, text: "89", headers: { "content-range": "bytes 998-999/1000" } },
  },
  {
    what: "a large static file",
    request: ["GET", "/static/large.bin"],
    response: { status: 200, body: expect.objectContaining({ length: 3 * MiB }) },
  },
  {
    what: "a compressed response",
    request: ["GET", "/text", { headers: [["accept-encoding", "gzip"]] }],
    response: { status: 200, headers: { "content-encoding": "gzip" } },
  },
  {
    what: "a request of another origin",
    request: ["GET", "/empty", { headers: [["origin", "https://a.example"]] }],
    response: { status: 204, headers: { "access-control-allow-origin": "https://a.example" } },
  },
  {
    what: "a background task",
    request: ["GET", "/tasks"],
    response: { status: 200, json: "open" },
    lines: ["task", "closed"],
  },
  {
    what: "an HTTPException",
    request: ["GET", "/teapot"],
    response: { status: 418, json: { detail: "short and stout" }, headers: { "x-pot": "1" } },
    lines: ["closed"],
  },
  {
    what: "an error",
    request: ["GET", "/broken"],
    response: { status: 500, json: { detail: "Internal Server Error" } },
    lines: ["closed", "error GET /broken failed: TypeError: broken"],
  },
  { what: "a handler that takes too long", request: ["GET", "/slow"], response: { status: 504 }, lines: ["aborted"] },
];

function defineRequests({ call }: MatrixClient): void {
  const { app, log, lines } = create();
  afterEach(() => {
    log.lines.length = 0;
    lines.length = 0;
  });

  it.each(rows)("has the response and the effects of $what", async ({ request, response, lines: expected = [] }) => {
    expect(await call(app, ...request)).toMatchObject(response);
    expect([...lines, ...log.lines]).toEqual(expected);
  });

  it("keeps its session and its identifiers over two requests", async () => {
    const first = await call(app, "GET", "/visits");
    const cookie = first.headers["set-cookie"]?.split(";")[0] ?? "";
    const second = await call(app, "GET", "/visits", { headers: [["cookie", cookie]] });
    expect([first.json, second.json]).toEqual([1, 2]);
    expect(first.headers["x-request-id"]).not.toBe(second.headers["x-request-id"]);
  });
}

describeMatrix("an application with a route of each kind", defineRequests, ALL);

describe("the same application", () => {
  it("has a row for every route", () => {
    const { app } = create();
    const called = rows.map(({ request: [, target] }) => target);
    const patterns = app.routes.map(({ path: pattern }) => new RegExp(`^${pattern.replaceAll(/\{.*?\}/g, "[^/?]+")}`));
    expect(patterns.filter((pattern) => !called.some((target) => pattern.test(target)))).toEqual([/^\/visits/]);
  });
});

describeSocketMatrix(
  "a WebSocket of each kind",
  ({ connect, refused }) => {
    function chat() {
      const log = new KeptLog();
      const lines: string[] = [];
      const resource = withParams({}, async function* () {
        try {
          yield;
        } finally {
          lines.push("closed");
        }
      });
      const app = new App({ logger: log, middleware: [requestId(), cors({ allowOrigins: "*" })] });
      app.websocket(
        "/rooms/{room}",
        { params: { it: Depends(resource), user: Header() } },
        async ({ ws, room, user }) => {
          await ws.accept({ subprotocol: ws.subprotocols[0] });
          await ws.sendJson({ room, user });
          for await (const message of ws) {
            if (typeof message === "string") await ws.sendText(message.toUpperCase());
            else await ws.sendBytes(message.toReversed());
            if (message === "bye") throw new WebSocketException(4001, "as you wish");
          }
        },
      );
      return { app, log, lines };
    }

    it("talks in text and in bytes, and is closed by either side", async () => {
      const { app, log, lines } = chat();
      const options = { headers: { user: "ada" }, subprotocols: ["v2", "v1"] };
      const ws = await connect(app, "/rooms/a%2Fb", options);
      expect(ws.subprotocol).toBe("v2");
      expect(await ws.receiveJson()).toEqual({ room: "a/b", user: "ada" });
      await ws.sendText("é".repeat(50_000));
      expect(await ws.receiveText()).toBe("É".repeat(50_000));
      await ws.sendBytes(new Uint8Array([1, 2, 255]));
      expect([...(await ws.receiveBytes())]).toEqual([255, 2, 1]);
      await ws.sendText("bye");
      expect(await ws.receiveText()).toBe("BYE");
      expect(await ws.closed).toMatchObject({ code: 4001, reason: "as you wish" });
      await ws.settled();

      const other = await connect(app, "/rooms/b", { headers: { user: "eve" } });
      await other.close(1001);
      const third = await connect(app, "/rooms/c", { headers: { user: "bob" } });
      await third.terminate();
      expect(lines).toEqual(["closed", "closed", "closed"]);
      expect(log.lines).toEqual([]);
    });

    it("is refused without a parameter, and without a route", async () => {
      const { app } = chat();
      expect(await refused(app, "/rooms/a")).toMatchObject({ statusCode: 422 });
      expect(await refused(app, "/none")).toMatchObject({ statusCode: null, code: 4004 });
    });
  },
  ["memory", "socket"],
);
