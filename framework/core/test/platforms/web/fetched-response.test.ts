/** The response of the platform's `fetch` as a response of the application, and its request as a request of `fetch`. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App } from "../../../src/app/app.js";
import { HTTPException } from "../../../src/common/exceptions.js";
import { Request } from "../../../src/http/request.js";
import { compress, httpMiddleware } from "../../../src/middleware/index.js";
import { serve, toNodeHandler } from "../../../src/node.js";
import { fromFetchHandler } from "../../../src/platforms/web/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { Wire } from "../node/_http.js";

const TEXT = "A sentence that is worth compressing. ".repeat(40);
const PLAIN = Buffer.from(TEXT);

/** Bodies by the `Content-Encoding` that the upstream sends. */
const BODIES = new Map<string, Uint8Array>([
  ["gzip", gzipSync(PLAIN)],
  ["GZIP", gzipSync(PLAIN)],
  ["x-gzip", gzipSync(PLAIN)],
  ["deflate", deflateSync(PLAIN)],
  ["br", brotliCompressSync(PLAIN)],
  ["gzip, br", brotliCompressSync(gzipSync(PLAIN))],
  ["identity", PLAIN],
  ["x-unknown", PLAIN],
]);

/** Fields that are only for the connection to the upstream. */
const HOP_BY_HOP = {
  Connection: "keep-alive, X-Hop",
  "X-Hop": "1",
  "Keep-Alive": "timeout=5",
  "Proxy-Connection": "keep-alive",
  "Proxy-Authenticate": "Basic",
  Upgrade: "h2c",
  TE: "trailers",
};

interface Received {
  readonly method: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server that sends each body of the table, and keeps the requests that it received at `/echo`. */
class Upstream {
  readonly received: Received[] = [];
  readonly #server: Server = createServer((req, res) => void this.#respond(req, res));

  async listen(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  of(coding: string): string {
    return `${this.url}/${encodeURIComponent(coding)}`;
  }

  async #respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === "/echo") {
      this.received.push({ method: req.method, headers: req.headers, body: await textOf(req) });
      res.end("received");
      return;
    }
    const coding = decodeURIComponent(req.url?.slice(1) ?? "");
    const body = BODIES.get(coding) ?? PLAIN;
    const entity = {
      "Content-Type": "text/plain",
      ETag: '"tag"',
      "Accept-Ranges": "bytes",
      "Repr-Digest": "sha-256=:a:",
    };
    res.writeHead(200, { ...HOP_BY_HOP, ...entity, "Content-Encoding": coding, "Content-Length": body.length });
    res.end(req.method === "HEAD" ? undefined : body);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

const upstream = new Upstream();
beforeAll(() => upstream.listen());
afterAll(() => upstream.close());

const DECODED = ["gzip", "GZIP", "x-gzip", "deflate", "br", "gzip, br"];

/** Each way from `fetch` to a response. */
function gateway(): App {
  const app = new App({ logger: new KeptLog() });
  const ask = (coding: string) => fetch(upstream.of(coding));
  app.get("/handler/{coding}", async ({ coding }) => ask(coding));
  app.get("/stream/{coding}", { stream: "sse" }, async ({ coding }) => ask(coding));
  const codingOf = (request: Request) => decodeURIComponent(request.path.split("/")[2] ?? "");
  app.exceptionHandler(418, async (_error, request) => ask(codingOf(request)));
  app.get("/error/{coding}", async () => {
    throw new HTTPException(418);
  });
  const middleware = [httpMiddleware(async (request) => ask(codingOf(request)))];
  app.get("/middleware/{coding}", { middleware }, async () => null);
  app.mount(
    "/mounted",
    fromFetchHandler((request) => fetch(upstream.url + new URL(request.url).pathname.slice("/mounted".length))),
  );
  return app;
}

describeMatrix("a Response as fetch returned it", ({ call }) => {
  it.each(["handler", "stream", "error", "middleware", "mounted"])(
    "is sent without the coding that fetch has decoded, from: %s",
    async (way) => {
      const app = gateway();
      for (const coding of DECODED) {
        const { status, headers, text } = await call(app, "GET", `/${way}/${encodeURIComponent(coding)}`);
        expect([coding, status, text]).toEqual([coding, 200, TEXT]);
        expect(headers).not.toHaveProperty("content-encoding");
        expect([undefined, String(PLAIN.length)]).toContain(headers["content-length"]);
      }
    },
  );

  it.each(["handler", "mounted"])(
    "is sent with a coding that fetch does not know, and its length, from: %s",
    async (way) => {
      for (const coding of ["identity", "x-unknown"]) {
        const { headers, text } = await call(gateway(), "GET", `/${way}/${coding}`);
        expect(text).toBe(TEXT);
        expect(headers).toMatchObject({
          "content-encoding": coding,
          "content-length": String(PLAIN.length),
          "repr-digest": "sha-256=:a:",
          "accept-ranges": "bytes",
          etag: '"tag"',
        });
      }
    },
  );

  it("has no fields that describe the encoded bytes, and a weak tag", async () => {
    const { headerLines } = await call(gateway(), "GET", "/handler/gzip");
    expect(headerLines).toEqual(
      expect.arrayContaining([
        ["content-type", "text/plain"],
        ["etag", 'W/"tag"'],
      ]),
    );
    expect(headerLines.map(([name]) => name)).toEqual(expect.not.arrayContaining(["accept-ranges", "repr-digest"]));
  });

  it.each(["gzip", "identity"])("has no fields about the connection to its server: %s", async (coding) => {
    const { headers } = await call(gateway(), "GET", `/handler/${coding}`);
    const dropped = Object.keys(HOP_BY_HOP).filter((name) => headers[name.toLowerCase()] !== undefined);
    expect(dropped).toEqual([]);
  });

  it("has the same fields for HEAD as for GET", async () => {
    const app = new App({ logger: new KeptLog() });
    app.route("/{coding}", { methods: ["GET", "HEAD"], params: { request: Request } }, async ({ request }) =>
      fetch(upstream.of(request.pathParams["coding"] ?? ""), { method: request.method }),
    );
    for (const coding of ["gzip", "identity"]) {
      const [get, head] = [await call(app, "GET", `/${coding}`), await call(app, "HEAD", `/${coding}`)];
      const fieldsOf = ({ headers }: typeof get) => [headers["content-encoding"], headers["etag"]];
      expect([head.status, head.text, fieldsOf(head)]).toEqual([200, "", fieldsOf(get)]);
    }
  });

  it("is compressed by compress(), once", async () => {
    const app = new App({ logger: new KeptLog(), middleware: [compress()] });
    app.get("/", async () => fetch(upstream.of("br")));
    const { headers, body } = await call(app, "GET", "/", { headers: [["accept-encoding", "gzip"]] });
    expect([headers["content-encoding"], gunzipSync(body).toString()]).toEqual(["gzip", TEXT]);
  });

  it("stays as it is when a handler made it: its own bytes and fields", async () => {
    const app = new App({ logger: new KeptLog() });
    const headers = { "content-encoding": "gzip", "x-hop": "1", etag: '"tag"' };
    app.get("/", async () => new Response(gzipSync(PLAIN), { headers }));
    const answer = await call(app, "GET", "/");
    expect(answer.headers).toMatchObject(headers);
    expect(gunzipSync(answer.body).toString()).toBe(TEXT);
  });

  it("is the response of a mounted reverse proxy, which forwards the body of the request", async () => {
    const app = new App({ logger: new KeptLog() });
    const forward = (request: globalThis.Request) =>
      fetch(new globalThis.Request(upstream.url + new URL(request.url).pathname, request), { redirect: "manual" });
    app.mount("/echo", fromFetchHandler(forward));
    upstream.received.length = 0;
    const { text } = await call(app, "PUT", "/echo", { chunks: [Buffer.from("hel"), Buffer.from("lo")] });
    expect([text, upstream.received]).toMatchObject(["received", [{ method: "PUT", body: "hello" }]]);
  });
});

interface Listening {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Starts a server of `node:http` with the application as its listener. */
async function listenWith(app: App): Promise<Listening> {
  const server = createServer(toNodeHandler(app, { logger: new KeptLog() }));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, close };
}

describe("request.toWeb() as a request of fetch", () => {
  const app = new App({ logger: new KeptLog() });
  app.route("/echo", { methods: ["GET", "POST"], params: { request: Request } }, async ({ request }) =>
    fetch(new globalThis.Request(`${upstream.url}/echo`, request.toWeb())),
  );

  const HEAD =
    "Host: a\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n" +
    "Proxy-Authorization: Basic YTpi\r\nTE: trailers\r\nExpect: 100-continue\r\nX-Kept: 1\r\n";

  /** Sends requests through the application on a port, and returns those that reached the upstream. */
  async function forwarded(port: number, requests: readonly string[]): Promise<Received[]> {
    upstream.received.length = 0;
    for (const request of requests) {
      await using wire = new Wire(port);
      expect(await wire.write(request).closed).toMatch(/HTTP\/1\.1 200 [^]*received/);
    }
    return [...upstream.received];
  }

  const REQUESTS = [
    `GET /echo HTTP/1.1\r\n${HEAD}\r\n`,
    `POST /echo HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\nhello`,
    `POST /echo HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  ];

  async function serveApp(): Promise<Listening> {
    const { url, close } = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
    return { port: Number(new URL(url).port), close };
  }

  it.each(["serve", "toNodeHandler"])(
    "is forwarded without fields about the connection to the client, by %s",
    async (way) => {
      const { port, close } = way === "serve" ? await serveApp() : await listenWith(app);
      try {
        const requests = await forwarded(port, REQUESTS);
        expect(requests.map(({ method, body }) => [method, body])).toEqual([
          ["GET", ""],
          ["POST", "hello"],
          ["POST", "hello"],
        ]);
        for (const { headers } of requests) {
          expect(headers["x-kept"]).toBe("1");
          for (const name of ["x-hop", "keep-alive", "proxy-connection", "proxy-authorization", "te", "expect"]) {
            expect(headers).not.toHaveProperty(name);
          }
        }
      } finally {
        await close();
      }
    },
  );
});

describe("a Response as fetch returned it, by toNodeHandler", () => {
  it("is sent without the coding that fetch has decoded, and compressed by compress()", async () => {
    const app = new App({ logger: new KeptLog(), middleware: [compress({ encodings: ["br"] })] });
    app.get("/", async () => fetch(upstream.of("gzip")));
    const { port, close } = await listenWith(app);
    try {
      for (const coding of ["br", "identity"]) {
        const answer = await fetch(`http://127.0.0.1:${port}`, { headers: { "accept-encoding": coding } });
        expect([answer.headers.get("content-encoding") ?? "identity", await answer.text()]).toEqual([coding, TEXT]);
      }
    } finally {
      await close();
    }
  });
});
