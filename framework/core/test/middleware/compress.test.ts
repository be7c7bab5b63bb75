import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliDecompressSync, constants, createBrotliDecompress, createGunzip, gunzipSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPScope, Send, SendMessage } from "../../src/protocol/asgi.js";
import {
  App,
  ClientDisconnect,
  ConfigurationError,
  FileResponse,
  Response,
  type ResponseOptions,
  StreamingResponse,
} from "../../src/index.js";
import { compress, type CompressOptions, cors, gzip } from "../../src/middleware/index.js";
import { served } from "../platforms/node/_http.js";
import type { Answer } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(100);

function create(options: CompressOptions = {}, content = TEXT, answer: ResponseOptions = {}): App {
  const app = new App({ logger: new KeptLog(), middleware: [compress(options)] });
  app.get("/", async () => new Response(content, { mediaType: "text/plain", ...answer }));
  return app;
}

const accept = (value: string) => ({ headers: [["accept-encoding", value]] as const });

function decoded({ headers, body }: Answer): string {
  const coding = headers["content-encoding"];
  if (coding === undefined) return body.toString();
  return (coding === "br" ? brotliDecompressSync(body) : gunzipSync(body)).toString();
}

describeMatrix("gzip", ({ call }) => {
  it.each(["gzip", "br"])("compresses a whole response with %s, and sets its new length", async (coding) => {
    const answer = await call(create(), "GET", "/", accept(coding));
    expect(answer.headers).toMatchObject({
      "content-encoding": coding,
      "content-length": String(answer.body.length),
      "content-type": "text/plain; charset=utf-8",
      vary: "Accept-Encoding",
    });
    expect(answer.body.length).toBeLessThan(TEXT.length / 10);
    expect(decoded(answer)).toBe(TEXT);
  });

  it.each(["gzip", "br"])("compresses a large response with %s outside the event loop", async (coding) => {
    const answer = await call(create({}, TEXT.repeat(20)), "GET", "/", accept(coding));
    expect(answer.headers).toMatchObject({ "content-encoding": coding, "content-length": String(answer.body.length) });
    expect(decoded(answer)).toBe(TEXT.repeat(20));
  });

  it.each<[string, CompressOptions, string | undefined]>([
    ["gzip, deflate, br", {}, "gzip"],
    ["gzip, deflate, br", { encodings: ["br", "gzip"] }, "br"],
    ["gzip;q=0.5, br", {}, "br"],
    ["br", { encodings: ["gzip"] }, undefined],
    ["deflate", {}, undefined],
    ["identity", {}, undefined],
  ])("responds to Accept-Encoding %j with %j: %s", async (header, options, coding) => {
    const answer = await call(create(options), "GET", "/", accept(header));
    expect(answer.headers["content-encoding"]).toBe(coding);
    expect(answer.headers["vary"]).toBe("Accept-Encoding");
    expect(decoded(answer)).toBe(TEXT);
  });

  it("combines a header that is repeated", async () => {
    const headers = [
      ["accept-encoding", "gzip"],
      ["accept-encoding", "br;q=0.5, identity;q=0"],
    ] as const;
    expect((await call(create(), "GET", "/", { headers })).headers["content-encoding"]).toBe("gzip");
  });

  it.each<[number, CompressOptions, string, boolean]>([
    [499, {}, "gzip", false],
    [500, {}, "gzip", true],
    [1023, { minimumSize: 1024 }, "gzip", false],
    [1024, { minimumSize: 1024 }, "gzip", true],
    [0, { minimumSize: 0 }, "gzip", true],
    [1, {}, "gzip, identity;q=0", true],
  ])("of %i bytes with %j for %j is compressed: %s", async (size, options, header, isEncoded) => {
    const answer = await call(create(options, "x".repeat(size)), "GET", "/", accept(header));
    expect("content-encoding" in answer.headers).toBe(isEncoded);
    expect(answer.headers["vary"]).toBe("Accept-Encoding");
    expect(decoded(answer)).toBe("x".repeat(size));
  });

  it.each([
    ["text/html", true],
    ["text/css; charset=utf-8", true],
    ["TEXT/CSV", true],
    ["application/json", true],
    ["application/problem+json", true],
    ["application/jsonl", true],
    ["application/javascript", true],
    ["application/wasm", true],
    ["image/svg+xml", true],
    ["font/ttf", true],
    ["image/png", false],
    ["font/woff2", false],
    ["application/zip", false],
    ["application/octet-stream", false],
    ["video/mp4", false],
    ["text/event-stream", false],
    ["text/event-stream; charset=utf-8", false],
    ["not a type", false],
  ])("of the type %s is compressed: %s", async (mediaType, isEncoded) => {
    const answer = await call(create({}, TEXT, { mediaType }), "GET", "/", accept("gzip"));
    expect("content-encoding" in answer.headers).toBe(isEncoded);
    expect("vary" in answer.headers).toBe(isEncoded);
    expect(decoded(answer)).toBe(TEXT);
  });

  it.each<[string, number, Record<string, string>]>([
    ["a part", 206, { "content-range": "bytes 0-4499/9000" }],
    ["one that is encoded", 200, { "content-encoding": "zstd" }],
    ["one that says it is not", 200, { "content-encoding": "identity" }],
    ["one that nobody may transform", 200, { "cache-control": "public, No-Transform,max-age=1" }],
    ["one with a digest of its bytes", 200, { "content-digest": "sha-256=:AAAA:" }],
  ])("does not change %s", async (_, statusCode, headers) => {
    const answer = await call(create({}, TEXT, { statusCode, headers }), "GET", "/", accept("gzip, br, identity;q=0"));
    expect(answer.text).toBe(TEXT);
    expect(answer.headers).toMatchObject({ ...headers, "content-length": String(TEXT.length) });
  });

  it.each([204, 304])("sends no body with %i, and sets the headers of the whole response on 304", async (status) => {
    const app = create({ minimumSize: 0 }, "", { statusCode: status, headers: { etag: '"a"' } });
    const answer = await call(app, "GET", "/", accept("gzip, identity;q=0"));
    expect(answer).toMatchObject({ status, text: "", headers: { etag: '"a"' } });
    expect(answer.headers).not.toHaveProperty("content-encoding");
    expect(answer.headers["vary"]).toBe(status === 304 ? "Accept-Encoding" : undefined);
  });

  it.each([
    ['"a"', 'W/"a"'],
    ['W/"a"', 'W/"a"'],
  ])("makes of the entity tag %s the weak one %s, and offers no ranges", async (etag, weak) => {
    const app = create({}, TEXT, { headers: { etag, "accept-ranges": "bytes" } });
    const answer = await call(app, "GET", "/", accept("gzip"));
    expect(answer.headers["etag"]).toBe(weak);
    expect(answer.headers).not.toHaveProperty("accept-ranges");
    const plain = await call(app, "GET", "/");
    expect(plain.headers).toMatchObject({ etag, "accept-ranges": "bytes" });
  });

  it("responds to HEAD with the headers of GET, except for a length that it does not know", async () => {
    for (const content of [TEXT, "short"]) {
      const app = create({}, content);
      const get = await call(app, "GET", "/", accept("gzip"));
      const head = await call(app, "HEAD", "/", accept("gzip"));
      const { "content-length": length, ...others } = get.headers;
      expect(head.text).toBe("");
      expect(head.headers).toEqual(content === TEXT ? others : { ...others, "content-length": length });
    }
  });

  it("works between cors and a stream, for GET and HEAD", async () => {
    const app = new App({
      logger: new KeptLog(),
      middleware: [cors({ allowOrigins: ["https://a.example"] }), compress()],
    });
    app.get(
      "/",
      async () => new StreamingResponse([TEXT, TEXT], { mediaType: "text/plain", headers: { vary: "X-A" } }),
    );
    const headers = [
      ["origin", "https://a.example"],
      ["accept-encoding", "gzip"],
    ] as const;
    const get = await call(app, "GET", "/", { headers });
    const head = await call(app, "HEAD", "/", { headers });
    expect(get.headers).toEqual({
      "access-control-allow-origin": "https://a.example",
      "content-encoding": "gzip",
      "content-type": "text/plain; charset=utf-8",
      vary: "X-A, Origin, Accept-Encoding",
    });
    expect(decoded(get)).toBe(TEXT + TEXT);
    expect(head).toMatchObject({ status: 200, text: "", headers: get.headers });
  });

  it("sends a file compressed, its ranges uncompressed, 304 to a client that has it, and 412 to If-Match with its weak tag", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-gzip-"));
    try {
      await writeFile(path.join(folder, "a.txt"), TEXT.repeat(50));
      const app = new App({ logger: new KeptLog(), middleware: [compress()] });
      app.get("/", async () => new FileResponse("a.txt", { root: folder }));
      const get = async (headers: Record<string, string> = {}) =>
        call(app, "GET", "/", { headers: Object.entries({ "accept-encoding": "gzip", ...headers }) });

      const whole = await get();
      const etag = whole.headers["etag"] ?? "";
      expect(etag).toMatch(/^W\/"/);
      expect(decoded(whole)).toBe(TEXT.repeat(50));

      for (const known of [etag, etag.slice(2)]) {
        const headers = { vary: "Accept-Encoding", etag: known }; // of the form that the client has
        expect(await get({ "if-none-match": known })).toMatchObject({ status: 304, headers });
      }
      // RFC 9110 §13.1.1: only a strong tag can match If-Match, and the one without W/ is the tag of the file.
      const identity = await get({ "accept-encoding": "identity" });
      expect([`W/${identity.headers["etag"]}`, (await get({ "if-match": etag })).status]).toEqual([etag, 412]);
      expect((await get({ "if-match": etag.slice(2) })).status).toBe(200);
      const part = await get({ range: "bytes=4-8" });
      expect(part).toMatchObject({ status: 206, text: TEXT.slice(4, 9) });
      expect(part.headers).not.toHaveProperty("content-encoding");
      // A range of the bytes that the weak tag stands for cannot be had: the client gets all of them.
      const late = await get({ range: "bytes=4-8", "if-range": etag });
      expect(late.status).toBe(200);
      expect(decoded(late)).toBe(TEXT.repeat(50));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("compresses error responses", async () => {
    const app = create({ minimumSize: 1 });
    const answer = await call(app, "GET", "/none", accept("gzip"));
    expect(answer).toMatchObject({ status: 404, headers: { "content-encoding": "gzip" } });
    expect(decoded(answer)).toBe('{"detail":"Not Found"}');
  });
});

/** Calls an application through gzip, in memory, with a `send` of the test's. */
function run(app: ASGIApp, send: Send, options?: CompressOptions): Promise<void> {
  const scope: HTTPScope = {
    type: "http",
    method: "GET",
    path: "/",
    headers: [[Buffer.from("accept-encoding"), Buffer.from("gzip")]],
  };
  return compress(options)(app)(scope, () => Promise.reject(new Error("not read")), send);
}

const start = (headers: Record<string, string> = { "content-type": "text/plain" }): SendMessage => ({
  type: "http.response.start",
  status: 200,
  headers: Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const),
});

const part = (body: string, more_body = true): SendMessage => ({
  type: "http.response.body",
  body: Buffer.from(body),
  more_body,
});

const bodiesOf = (messages: readonly SendMessage[]): Buffer =>
  Buffer.concat(
    messages.flatMap((message) => (message.type === "http.response.body" ? [message.body ?? ""] : [])) as never,
  );

describe("gzip of a stream", () => {
  it.each(["gzip", "br"])("arrives part by part over a socket with %s", async (coding) => {
    const app = new App({ logger: new KeptLog(), middleware: [compress()] });
    let go = () => {};
    const isRead = new Promise<void>((resolve) => (go = resolve));
    app.get("/", async function* () {
      yield { part: 1 };
      await isRead; // indefinitely, if the first chunk does not arrive before the second
      yield { part: 2 };
    });
    await using server = await served(app);
    const sending = request(server.url, { headers: { "accept-encoding": coding }, agent: false }).end();
    const [response] = (await once(sending, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.pipe(coding === "br" ? createBrotliDecompress() : createGunzip())) {
      text += String(chunk);
      go();
    }
    expect(text).toBe('{"part":1}\n{"part":2}\n');
  });

  it("sends each chunk as it arrives, in a form that can be read up to there", async () => {
    const sent: SendMessage[] = [];
    const seen: string[] = [];
    await run(
      async (_scope, _receive, send) => {
        await send(start());
        for (const text of ["one ", "two ", "three"]) {
          await send(part(text));
          seen.push(gunzipSync(bodiesOf(sent), { finishFlush: constants.Z_SYNC_FLUSH }).toString());
        }
        await send(part("", false));
      },
      (message) => void sent.push(message),
    );
    expect(seen).toEqual(["one ", "one two ", "one two three"]);
    expect(gunzipSync(bodiesOf(sent)).toString()).toBe("one two three");
    expect(sent.at(-1)).toMatchObject({ more_body: false });
  });

  it("waits if the server applies backpressure", async () => {
    const notes: string[] = [];
    const slow: Send = async (message) => {
      notes.push(`${message.type} goes out`);
      if (message.type === "http.response.start") return;
      await new Promise((resolve) => setImmediate(resolve));
      notes.push("the socket drains");
    };
    await run(async (_scope, _receive, send) => {
      await send(start());
      await send(part("one"));
      notes.push("the next part is made");
      await send(part("two", false));
    }, slow);
    expect(notes).toEqual([
      "http.response.start goes out",
      "http.response.body goes out",
      "the socket drains",
      "the next part is made",
      "http.response.body goes out",
      "the socket drains",
    ]);
  });

  it("sends the head immediately if an empty chunk requests it", async () => {
    const sent: SendMessage[] = [];
    await run(
      async (_scope, _receive, send) => {
        await send(start());
        await send(part(""));
        expect(sent).toEqual([expect.objectContaining({ type: "http.response.start" }), part("")]);
        await send(part("text", false));
      },
      (message) => void sent.push(message),
    );
    expect(gunzipSync(bodiesOf(sent)).toString()).toBe("text");
  });

  it("keeps the order of an application that does not await", async () => {
    const sent: SendMessage[] = [];
    await run(
      async (_scope, _receive, send) => {
        const all = [start(), part("a".repeat(2000)), part("b"), part("c", false)].map(async (message) =>
          send(message),
        );
        await Promise.all(all);
      },
      (message) => void sent.push(message),
    );
    expect(gunzipSync(bodiesOf(sent)).toString()).toBe(`${"a".repeat(2000)}bc`);
  });

  it.each([
    ["100", false],
    ["500", true],
  ])("of an announced length of %s is compressed: %s", async (length, isEncoded) => {
    const sent: SendMessage[] = [];
    const body = "x".repeat(Number(length));
    await run(
      async (_scope, _receive, send) => {
        await send(start({ "content-type": "text/plain", "content-length": length }));
        await send(part(body));
        await send(part("", false));
      },
      (message) => void sent.push(message),
    );
    const names = [...((sent[0] as { headers?: Iterable<[Uint8Array, Uint8Array]> }).headers ?? [])].map(([name]) =>
      String(Buffer.from(name)),
    );
    expect(names.includes("content-length")).toBe(!isEncoded);
    expect((isEncoded ? gunzipSync(bodiesOf(sent)) : bodiesOf(sent)).toString()).toBe(body);
  });

  it("compresses a response without a type, because it may be compressible", async () => {
    const sent: SendMessage[] = [];
    await run(
      async (_scope, _receive, send) => {
        await send(start({}));
        await send(part(TEXT, false));
      },
      (message) => void sent.push(message),
    );
    expect(gunzipSync(bodiesOf(sent)).toString()).toBe(TEXT);
  });

  it("reports a disconnect of the client to the application", async () => {
    const gone: Send = (message) => {
      if (message.type === "http.response.body") throw new ClientDisconnect();
    };
    let seen: unknown;
    await run(async (_scope, _receive, send) => {
      await send(start());
      seen = await Promise.resolve(send(part("one"))).catch((error: unknown) => error);
    }, gone);
    expect(seen).toBeInstanceOf(ClientDisconnect);
  });

  it("hands an error of the application on", async () => {
    const failing: ASGIApp = async (_scope, _receive, send) => {
      await send(start());
      await send(part("one"));
      throw new Error("half way");
    };
    await expect(run(failing, () => {})).rejects.toThrow("half way");
  });

  it("hands on messages of extensions, which it does not know", async () => {
    const sent: SendMessage[] = [];
    const early = { type: "http.response.debug", info: {} } as unknown as SendMessage;
    await run(
      async (_scope, _receive, send) => {
        await send(early);
        await send(start());
        await send(part("x", false));
      },
      (message) => void sent.push(message),
    );
    expect(sent[0]).toBe(early);
  });

  it.each<[string, unknown, RegExp]>([
    ["another option", { threshold: 1 }, /no option "threshold"/],
    ["a size that is none", { minimumSize: -1 }, /minimumSize should be a whole number/],
    ["no codings", { encodings: [] }, /encodings/],
    ["a coding that there is not", { encodings: ["deflate"] }, /encodings/],
    ["a level that is none", { level: 10 }, /level should be a whole number from 1 to 9/],
    ["a quality that is none", { brotliQuality: 12 }, /brotliQuality should be a whole number from 0 to 11/],
  ])("is rejected with %s when it is created", (_, options, message) => {
    const make = () => compress(options as CompressOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});

it("bears its first name too", () => {
  // oxlint-disable-next-line typescript/no-deprecated -- the name that the contract has
  expect(gzip).toBe(compress);
});
