import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import type { ASGIApp, ReceiveMessage, SendMessage } from "../../src/protocol/asgi.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Deferred } from "../../src/common/promises.js";
import { bodyLimit, decompress, type DecompressOptions } from "../../src/middleware/index.js";
import { Body, File, Form, Request, t } from "../../src/index.js";
import { aliveBytes } from "../../../test/support/garbage.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const ENCODERS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};
const CODINGS = Object.keys(ENCODERS);

/** The bytes in these codings, in their order. */
function encode(bytes: Uint8Array, codings: string): Uint8Array {
  return codings.split(", ").reduce((body, coding) => {
    const name = coding.toLowerCase().replace("x-", "");
    return name === "identity" ? body : (ENCODERS[name]?.(body) ?? body);
  }, bytes);
}

/** The headers of an encoded body. */
const headed = (type: string, coding: string): [string, string][] => [
  ["content-type", type],
  ["content-encoding", coding],
];

function reader(options?: DecompressOptions): App {
  const app = new App({ logger: new KeptLog(), middleware: [decompress(options)] });
  const params = { request: Request };
  app.post("/json", { params: { item: Body(t.Object({ name: t.String() })) } }, async ({ item }) => item.name);
  app.post("/form", { params: { name: Form() } }, async ({ name }) => name);
  app.post("/file", { params: { file: File() } }, async ({ file }) => file.text());
  app.post("/text", { params }, async ({ request }) => request.text());
  app.post("/headers", { params }, async ({ request }) => [
    request.header("content-encoding") ?? null,
    request.header("content-length") ?? null,
    request.header("content-type"),
    (await request.body()).length,
  ]);
  app.post("/stream", { params }, async ({ request }) => {
    let length = 0;
    for await (const part of request.stream()) length += part.length;
    return length;
  });
  app.post("/web", { params }, async ({ request }) => request.toWeb().text());
  app.post("/unread", async () => "unread");
  return app;
}

const MULTIPART = Buffer.from(
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n',
);

describeMatrix("decompress", ({ call, transport }) => {
  it.each([...CODINGS, "GZIP", "x-gzip", "gzip, br", "br, deflate, gzip", "identity, gzip"])(
    "decodes each kind of body: %s",
    async (coding) => {
      const app = reader();
      const send = async (path: string, type: string, body: string | Uint8Array) =>
        (await call(app, "POST", path, { headers: headed(type, coding), body: encode(Buffer.from(body), coding) }))
          .json;
      expect(await send("/json", "application/json", '{"name":"Ada"}')).toBe("Ada");
      expect(await send("/form", "application/x-www-form-urlencoded", "name=Ada")).toBe("Ada");
      expect(await send("/file", "multipart/form-data; boundary=b", MULTIPART)).toBe("hello");
      expect(await send("/text", "text/plain", "héllo")).toBe("héllo");
      expect(await send("/stream", "text/plain", Buffer.alloc(200_000))).toBe(200_000);
      expect(await send("/web", "text/plain", "héllo")).toBe("héllo");
      expect(await send("/unread", "text/plain", "héllo")).toBe("unread");
    },
  );

  it("decodes a body that arrives in single bytes", async () => {
    for (const coding of CODINGS) {
      const chunks = Array.from(encode(Buffer.from("héllo"), coding), (byte) => Buffer.of(byte));
      const { json } = await call(reader(), "POST", "/text", { headers: headed("text/plain", coding), chunks });
      expect([coding, json]).toEqual([coding, "héllo"]);
    }
  });

  it("decodes codings that are listed in several lines", async () => {
    if (transport === "http2") return; // the client does not send them
    const headers = [...headed("text/plain", "gzip"), ["content-encoding", "br"] as const];
    const { json } = await call(reader(), "POST", "/text", { headers, body: encode(Buffer.from("a"), "gzip, br") });
    expect(json).toBe("a");
  });

  it("hides the coding and the encoded length from the application", async () => {
    const { json } = await call(reader(), "POST", "/headers", {
      headers: headed("text/plain", "gzip"),
      body: gzipSync(Buffer.alloc(1000)),
    });
    expect(json).toEqual([null, null, "text/plain", 1000]);
  });

  it("does not limit a body in no coding", async () => {
    for (const headers of [[], headed("text/plain", "identity")]) {
      const { json } = await call(reader({ maxBytes: 5 }), "POST", "/stream", { headers, body: Buffer.alloc(10_000) });
      expect(json).toBe(10_000);
    }
  });

  it("passes requests without a coding, or with an empty body, unchanged", async () => {
    const plain = await call(reader(), "POST", "/json", { json: { name: "Ada" } });
    const empty = await call(reader(), "POST", "/stream", { headers: headed("text/plain", "br") });
    expect([plain.json, empty.json]).toEqual(["Ada", 0]);
  });

  it.each(["gzip", "deflate", "br", "gzip, br"])(
    "responds with 413 to a body that is too large when it is decoded: %s",
    async (coding) => {
      const bomb = encode(Buffer.alloc(4_000_000), coding);
      for (const path of ["/text", "/stream", "/json", "/web"]) {
        const headers = headed("application/json", coding);
        const { status, json } = await call(reader({ maxBytes: 100_000 }), "POST", path, { headers, body: bomb });
        expect([path, status, json]).toEqual([path, 413, { detail: "The body is larger than 100000 bytes" }]);
      }
    },
  );

  it("has the limit bodyBytes of the App, if it has no other", async () => {
    const app = new App({ logger: new KeptLog(), limits: { bodyBytes: 2000 }, middleware: [decompress()] });
    app.post("/", { params: { request: Request } }, async ({ request }) => (await request.body()).length);
    const send = (bytes: number) =>
      call(app, "POST", "/", { headers: headed("text/plain", "gzip"), body: gzipSync(Buffer.alloc(bytes)) });
    expect([(await send(2000)).status, (await send(2001)).status]).toEqual([200, 413]);
  });

  it("responds with 413 to an encoded body that is larger than any that would fit", async () => {
    const app = reader({ maxBytes: 10 });
    const headers = headed("text/plain", "gzip");
    const announced = await call(app, "POST", "/text", { headers, body: Buffer.alloc(2000) });
    // A block of five bytes without content, again and again: RFC 1951 §3.2.4.
    const blocks = Buffer.concat([
      Buffer.of(0x78, 0x9c),
      ...Array.from({ length: 400 }, () => Buffer.of(0, 0, 0, 255, 255)),
    ]);
    const halves = [blocks.subarray(0, 500), blocks.subarray(500)];
    const parts = await call(app, "POST", "/text", { headers: headed("text/plain", "deflate"), chunks: halves });
    expect([announced.status, parts.status]).toEqual([413, 413]);
  });

  it.each(CODINGS)("responds with 400 to a body that is not valid %s", async (coding) => {
    const whole = encode(Buffer.from("hello hello hello hello"), coding);
    const corrupt = {
      cut: whole.subarray(0, -3),
      other: Buffer.from("this is plain text, and no coding"),
      longer: Buffer.concat([whole, Buffer.from("more")]),
    };
    for (const [what, body] of Object.entries(corrupt)) {
      const { status, json } = await call(reader(), "POST", "/text", { headers: headed("text/plain", coding), body });
      expect([what, status, json]).toEqual([what, 400, { detail: `The body is not valid ${coding}` }]);
    }
  });

  it.each(["zstd", "gzip, x-unknown", "compress, br", "a b", "gzip, gzip, gzip, gzip, gzip"])(
    "responds with 415 and its codings to: %s",
    async (coding) => {
      const { status, headers } = await call(reader(), "POST", "/text", {
        headers: headed("text/plain", coding),
        body: Buffer.from("a"),
      });
      expect([status, headers["accept-encoding"]]).toEqual([415, "gzip, deflate, br"]);
    },
  );

  it("counts for a bodyLimit around it as encoded, and for one inside it as decoded", async () => {
    const body = gzipSync(Buffer.alloc(10_000));
    const send = async (app: App) =>
      (await call(app, "POST", "/", { headers: headed("text/plain", "gzip"), body })).status;
    const withMiddleware = (middleware: ConstructorParameters<typeof App>[0]) => {
      const app = new App({ logger: new KeptLog(), ...middleware });
      app.post("/", { params: { request: Request } }, async ({ request }) => (await request.body()).length);
      return app;
    };
    expect(await send(withMiddleware({ middleware: [decompress(), bodyLimit(500)] }))).toBe(200);
    expect(await send(withMiddleware({ middleware: [bodyLimit(500), decompress()] }))).toBe(413);
  });
});

/** Calls a middleware around an application that reads the whole body and lets errors escape. */
async function callRaw(app: ASGIApp, messages: readonly ReceiveMessage[], coding = "gzip"): Promise<SendMessage[]> {
  const waiting = [...messages];
  const sent: SendMessage[] = [];
  await app(
    { type: "http", method: "POST", path: "/", headers: [[Buffer.from("content-encoding"), Buffer.from(coding)]] },
    () => Promise.resolve(waiting.shift() ?? { type: "http.disconnect" }),
    (message) => void sent.push(message),
  );
  return sent;
}

const part = (body: Uint8Array, more_body = false): ReceiveMessage => ({ type: "http.request", body, more_body });

describe("decompress around an ASGI application", () => {
  const types: string[] = [];
  let bytes = 0;
  const echo: ASGIApp = async (_scope, receive, send) => {
    types.length = bytes = 0;
    for (let more = true; more;) {
      const message = await receive();
      types.push(message.type);
      more = message.type === "http.request" && message.more_body === true;
      if (message.type === "http.request") bytes += message.body?.length ?? 0;
    }
    types.push((await receive()).type);
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body" });
  };

  it("responds with the error that the application lets escape, and throws it for later readers", async () => {
    let second: unknown;
    const again: ASGIApp = async (scope, receive, send) => {
      try {
        await echo(scope, receive, send);
      } catch (error) {
        second = await receive().catch((later: unknown) => later === error);
        throw error;
      }
    };
    const sent = await callRaw(decompress({ maxBytes: 10 })(again), [part(gzipSync(Buffer.alloc(11)))]);
    expect([sent[0], second]).toEqual([expect.objectContaining({ status: 413 }), true]);
  });

  it("tells the application that the client has disconnected, in the body and after it", async () => {
    const whole = gzipSync(Buffer.from("hello"));
    await callRaw(decompress()(echo), [part(whole.subarray(0, 8), true), { type: "http.disconnect" }]);
    expect(types.at(-1)).toBe("http.disconnect");
    await callRaw(decompress()(echo), [part(whole)]);
    expect([types, bytes]).toEqual([["http.request", "http.request", "http.disconnect"], 5]);
  });

  it("holds no more than a few KiB of bombs of 64 MiB that are not read on", async () => {
    const bomb = part(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
    const COUNT = 8;
    const before = await aliveBytes();
    const reading = new Deferred<void>();
    const gate = new Deferred<void>();
    let begun = 0;
    const waiting: ASGIApp = async (_scope, receive, send) => {
      await receive();
      if (++begun === COUNT) reading.resolve();
      await gate.promise;
      await send({ type: "http.response.start", status: 200, headers: [] });
      await send({ type: "http.response.body" });
    };
    const app = decompress({ maxBytes: Number.MAX_SAFE_INTEGER })(waiting);
    const calls = Array.from({ length: COUNT }, () => callRaw(app, [bomb]));
    await reading.promise;
    // A decoder that does not wait for its reader continues in the thread pool.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect((await aliveBytes()) - before).toBeLessThan(COUNT * 1024 * 1024);
    gate.resolve();
    await Promise.all(calls);
  });

  it("rejects an invalid limit when it is created", () => {
    expect(() => decompress({ maxBytes: -1 })).toThrow(ConfigurationError);
    expect(() => decompress({ bytes: 1 } as never)).toThrow(ConfigurationError);
  });
});

describe("decompress on a platform without modules of Node", () => {
  const getBuiltinModule = process.getBuiltinModule.bind(process);
  afterEach(() => {
    process.getBuiltinModule = getBuiltinModule;
  });

  const onTheWeb = (options?: DecompressOptions) => {
    process.getBuiltinModule = () => undefined;
    return decompress(options);
  };
  const read: ASGIApp = async (_scope, receive, send) => {
    let bytes = 0;
    for (let more = true; more;) {
      const message = await receive();
      if (message.type !== "http.request") return;
      bytes += message.body?.length ?? 0;
      more = message.more_body === true;
    }
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body", body: Buffer.from(String(bytes)) });
  };

  it.each(["gzip", "deflate", "gzip, deflate"])("decodes %s by the platform, with the same limits", async (coding) => {
    const body = encode(Buffer.alloc(50_000), coding);
    const fits = await callRaw(onTheWeb({ maxBytes: 50_000 })(read), [part(body)], coding);
    const large = await callRaw(onTheWeb({ maxBytes: 49_999 })(read), [part(body)], coding);
    const cut = await callRaw(onTheWeb()(read), [part(body.subarray(0, -5))], coding);
    const other = await callRaw(onTheWeb()(read), [part(Buffer.alloc(2000, "text"), true), part(body)], coding);
    const statuses = [fits, large, cut, other].map(([head]) =>
      head?.type === "http.response.start" ? head.status : null,
    );
    expect(statuses).toEqual([200, 413, 400, 400]);
    expect(fits[1]).toMatchObject({ body: Buffer.from("50000") });
  });

  it("responds with 415 to brotli", async () => {
    const [head] = await callRaw(onTheWeb()(read), [part(encode(Buffer.from("a"), "br"))], "br");
    expect(head).toMatchObject({ status: 415 });
  });
});
