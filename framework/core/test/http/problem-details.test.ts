/** Errors as problem details, RFC 9457. @module */
import { describe, expect, it } from "@jest/globals";
import {
  App,
  Body,
  Depends,
  Form,
  type Fault,
  Header,
  HTTPException,
  httpExceptionHandler,
  Path,
  Query,
  Request,
  RequestValidationError,
  requestValidationExceptionHandler,
  StaticFiles,
  t,
} from "../../src/index.js";
import { bodyLimit } from "../../src/middleware/index.js";
import { HTTPBearer } from "../../src/parameters/security/http.js";
import { serve } from "../../src/node.js";
import { TestClient, WebSocketRefusedError } from "../../src/platforms/testing/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import type { CallApp } from "../../../test/support/call.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { served, Wire } from "../platforms/node/_http.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) =>
  new App({ problemDetails: true, logger: new KeptLog(), ...options });
const TYPE = "application/problem+json";

describeMatrix("an App with problemDetails", ({ call: send }) => {
  /** The helper parses only `application/json`. */
  const call: CallApp = async (...args) => {
    const response = await send(...args);
    return { ...response, json: response.text === "" ? undefined : (JSON.parse(response.text) as unknown) };
  };

  it.each<[string, () => unknown, object]>([
    ["a status", () => new HTTPException(404), { title: "Not Found", status: 404, detail: "Not Found" }],
    ["a text", () => new HTTPException(409, "Sold out"), { title: "Conflict", status: 409, detail: "Sold out" }],
    [
      "members",
      () =>
        new HTTPException(403, {
          type: "https://example.com/credit",
          title: "No credit",
          detail: "30 > 20",
          balance: 30,
        }),
      { type: "https://example.com/credit", title: "No credit", status: 403, detail: "30 > 20", balance: 30 },
    ],
    [
      "a status and an instance, which it cannot set",
      () => new HTTPException(403, { status: 200, instance: "/other", detail: "No" }),
      { title: "Forbidden", status: 403, detail: "No" },
    ],
    ["anything else", () => new Error("secret"), { title: "Internal Server Error", status: 500 }],
  ])("sends an error with %s", async (_what, error, members) => {
    const app = create();
    app.get("/items/{id}", async () => {
      throw error();
    });
    const response = await call(app, "GET", "/items/7?q=1");
    expect(response.headers["content-type"]).toBe(TYPE);
    expect(response.json).toMatchObject({ type: "about:blank", ...members, instance: "/items/7" });
    expect(response.text).not.toContain("secret");
  });

  it("sends 404, 405 and 401 with their headers", async () => {
    const app = create();
    app.get("/items", { params: { token: Depends(new HTTPBearer()) } }, async () => null);
    expect(await call(app, "GET", "/none")).toMatchObject({
      status: 404,
      json: { type: "about:blank", title: "Not Found", status: 404, instance: "/none" },
    });
    const notAllowed = await call(app, "DELETE", "/items");
    expect(notAllowed).toMatchObject({ status: 405, headers: { "content-type": TYPE, allow: "GET, HEAD" } });
    const anonymous = await call(app, "GET", "/items");
    expect(anonymous.headers).toMatchObject({ "content-type": TYPE, "www-authenticate": "Bearer" });
  });

  it("points to each invalid value", async () => {
    const app = create();
    const Item = t.Object({ name: t.String(), tags: t.Array(t.Integer()), "a/b~c": t.Optional(t.Integer()) });
    app.post(
      "/one/{id}",
      { params: { id: t.Integer(), page: Query(t.Integer()), xTrace: Header(t.Integer()), item: Item } },
      async () => null,
    );
    app.post("/two", { params: { item: Body(Item), count: Body(t.Integer()) } }, async () => null);
    app.post("/form", { params: { age: Form(t.Integer()) } }, async () => null);
    const errorsOf = async (target: string, body: string, type = "application/json") => {
      const response = await call(app, "POST", target, {
        headers: [
          ["content-type", type],
          ["x-trace", "t"],
        ],
        body: Buffer.from(body),
      });
      expect(response).toMatchObject({ status: 422, headers: { "content-type": TYPE } });
      const { errors, ...problem } = response.json as { errors: Record<string, unknown>[] };
      expect(problem).toMatchObject({ type: "about:blank", status: 422, instance: target.split("?")[0] });
      return errors.map(({ detail, ...place }) => {
        expect(detail).toEqual(expect.any(String));
        return place;
      });
    };
    expect(await errorsOf("/one/x?page=y", '{"tags":[1,"a"],"a/b~c":"x"}')).toEqual([
      { parameter: "id", code: "int_parsing" },
      { parameter: "page", code: "int_parsing" },
      { parameter: "x-trace", code: "int_parsing" },
      { pointer: "/name", code: "missing" },
      { pointer: "/tags/1", code: "int_type" },
      { pointer: "/a~1b~0c", code: "int_type" },
    ]);
    expect(await errorsOf("/two", '{"item":{"name":"a","tags":[true]},"count":"x"}')).toEqual([
      { pointer: "/item/tags/0", code: "int_type" },
      { pointer: "/count", code: "int_type" },
    ]);
    expect(await errorsOf("/two", "{")).toEqual([{ pointer: "", code: "json_invalid" }]);
    expect(await errorsOf("/form", "age=x", "application/x-www-form-urlencoded")).toEqual([
      { parameter: "age", code: "int_parsing" },
    ]);
  });

  it("includes the errors of middleware, and of mounted applications that are no App", async () => {
    const app = create({ middleware: [bodyLimit(2)] });
    app.post("/", { params: { request: Request } }, async ({ request }) => request.text());
    app.mount("/files", new StaticFiles(import.meta.dirname));
    expect(await call(app, "POST", "/", { body: Buffer.from("long") })).toMatchObject({
      status: 413,
      headers: { "content-type": TYPE },
      json: { title: "Payload Too Large", status: 413, instance: "/" },
    });
    expect(await call(app, "GET", "/files/none")).toMatchObject({ status: 404, headers: { "content-type": TYPE } });
  });

  it("does not change the errors of a mounted App without the option, nor the other way round", async () => {
    const plain = new App({ logger: new KeptLog() });
    const inner = create();
    const outer = create();
    outer.mount("/plain", plain);
    plain.mount("/inner", inner);
    expect((await call(outer, "GET", "/none")).json).toMatchObject({ status: 404 });
    expect((await call(outer, "GET", "/plain/none")).json).toEqual({ detail: "Not Found" });
    expect((await call(outer, "GET", "/plain/inner/none")).json).toMatchObject({ instance: "/plain/inner/none" });
  });

  it("passes its format to exception handlers that use the default ones", async () => {
    const app = create();
    app.exceptionHandler(HTTPException, (error, request) => httpExceptionHandler(error, request));
    app.exceptionHandler(RequestValidationError, (error, request) => requestValidationExceptionHandler(error, request));
    app.get("/{id}", { params: { id: Path(t.Integer()) } }, async () => {
      throw new HTTPException(410);
    });
    expect((await call(app, "GET", "/7")).headers["content-type"]).toBe(TYPE);
    expect((await call(app, "GET", "/x")).json).toMatchObject({ errors: [{ parameter: "id" }] });
  });

  it("translates the text of validation errors", async () => {
    const seen: (readonly string[])[] = [];
    const translate = ({ type }: Fault, languages: readonly string[]) => {
      seen.push(languages);
      return type === "int_parsing" && languages[0] === "de" ? "Bitte eine ganze Zahl" : undefined;
    };
    for (const problemDetails of [true, false]) {
      const app = create({ translate, problemDetails });
      app.get("/", { params: { n: Query(t.Integer()), m: Query() } }, async () => null);
      const headers = [["accept-language", "en;q=0.5, *;q=0.1, de, fr;q=0"]] as const;
      const response = await call(app, "GET", "/?n=x", { headers });
      expect(response.headers["vary"]).toBe("Accept-Language");
      expect(response.json).toMatchObject(
        problemDetails
          ? { errors: [{ detail: "Bitte eine ganze Zahl" }, { detail: "Field required" }] }
          : { detail: [{ msg: "Bitte eine ganze Zahl", input: "x" }, { msg: "Field required" }] },
      );
    }
    expect(new Set(seen.map(String))).toEqual(new Set(["de,en"]));
  });
});

describe("a WebSocket of an App with problemDetails", () => {
  it.each<[string, object]>([
    ["/refused", { status: 403, detail: "No", instance: "/refused" }],
    ["/invalid?n=x", { status: 422, errors: [{ parameter: "n", code: "int_parsing" }] }],
    ["/closed", { status: 403 }],
  ])("is refused at %s with a problem", async (target, problem) => {
    const app = create();
    const refuse = async () => {
      throw new HTTPException(403, "No");
    };
    app.websocket("/refused", { dependencies: [Depends(refuse)] }, async ({ ws }) => ws.accept());
    app.websocket("/invalid", { params: { n: Query(t.Integer()) } }, async ({ ws }) => ws.accept());
    app.websocket("/closed", async ({ ws }) => ws.close(1008));
    await using client = await TestClient.open(app);
    const refused: unknown = await client.websocket(target).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WebSocketRefusedError);
    const refusal = refused as WebSocketRefusedError;
    expect(refusal.headers["content-type"]).toBe(TYPE);
    expect(JSON.parse(refusal.text())).toMatchObject({ type: "about:blank", ...problem });
  });
});

describe("a server of an App with problemDetails", () => {
  it.each([
    ["a malformed request line", "GET  / HTTP/1.1\r\n\r\n", 400],
    ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["too long headers", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["an unknown transfer coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501],
  ])("responds with a problem to %s", async (_what, request, status) => {
    await using server = await served(create());
    await using wire = new Wire(server.port);
    wire.write(request);
    await wire.closed;
    const [head = "", body = ""] = wire.received.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head.toLowerCase()).toContain(`content-type: ${TYPE}`);
    expect(JSON.parse(body)).toMatchObject({ type: "about:blank", status, title: expect.any(String) });
  });

  it("responds as before to another application on another server", async () => {
    await using server = await served(new App({ logger: new KeptLog() }));
    await using wire = new Wire(server.port);
    wire.write("GET / HTTP/1.1\r\n\r\n");
    await wire.closed;
    expect(wire.received).toContain('{"detail":"Expected exactly one well-formed Host header."}');
  });

  it("responds with a problem to a handshake from a page of another origin", async () => {
    const app = create();
    app.websocket("/", async ({ ws }) => ws.accept());
    await using server = await serve(app, {
      port: 0,
      signals: false,
      logger: new KeptLog(),
      allowedOrigins: ["https://a.test"],
    });
    await using wire = new Wire(Number(new URL(server.url).port));
    wire.write(
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://b.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await wire.closed;
    expect(wire.received).toMatch(/^HTTP\/1\.1 403 /);
    expect(wire.received).toContain('"type":"about:blank"');
  });
});
