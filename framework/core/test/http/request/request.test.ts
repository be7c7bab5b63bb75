import { afterEach, describe, expect, it, jest } from "@jest/globals";
import type { HeaderPair, HTTPScope, ReceiveMessage } from "../../../src/protocol/asgi.js";
import { App, Request } from "../../../src/index.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { multipart } from "../../../../test/support/multipart.js";

afterEach(() => {
  jest.restoreAllMocks();
});

/** A `receive` that returns these messages in turn, and then the last one repeatedly. */
function receiving(...messages: ReceiveMessage[]) {
  let index = 0;
  return () => Promise.resolve(messages[Math.min(index++, messages.length - 1)] as ReceiveMessage);
}

const part = (text: string, more = false): ReceiveMessage => ({
  type: "http.request",
  body: Buffer.from(text),
  more_body: more,
});

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

describe("a request", () => {
  it.each([
    ["/a:b@c|[d]//", undefined, "/a:b@c|[d]//"],
    ["/a b?", "/a%20b%3f", "/a%20b%3f"],
    ["/caf\u00e9/a b", undefined, "/caf%C3%A9/a%20b"],
    ["/public\\..\\admin", undefined, "/public%5C..%5Cadmin"],
  ])("has the path %j in its url as it was sent", (path, raw, sent) => {
    const scope: HTTPScope = {
      type: "http",
      method: "GET",
      path,
      raw_path: raw === undefined ? raw : Buffer.from(raw),
    };
    expect(new Request(scope, receiving()).url.pathname).toBe(sent);
  });

  it("parses only when requested, and only once", async () => {
    const parses = { headers: 0, query: 0 };
    const scope = {
      type: "http",
      method: "POST",
      path: "/",
      get query_string() {
        parses.query++;
        return Buffer.from("a=1");
      },
      headers: {
        *[Symbol.iterator](): IterableIterator<HeaderPair> {
          parses.headers++;
          yield [Buffer.from("content-type"), Buffer.from("application/json")];
          yield [Buffer.from("cookie"), Buffer.from("b=2")];
        },
      },
    } as unknown as HTTPScope;
    const receive = jest.fn(receiving(part('{"c":3}')));
    const parseJSON = jest.spyOn(JSON, "parse");
    const request = new Request(scope, receive);
    expect([request.method, request.path, parses, receive.mock.calls]).toEqual([
      "POST",
      "/",
      { headers: 0, query: 0 },
      [],
    ]);

    expect(request.headers).toBe(request.headers);
    expect(request.cookies).toBe(request.cookies);
    expect(request.cookies["b"]).toBe("2");
    expect(request.queryParams).toBe(request.queryParams);
    expect(parses).toEqual({ headers: 1, query: 1 });
    expect(receive).not.toHaveBeenCalled();

    await request.body();
    expect(parseJSON).not.toHaveBeenCalled();
    expect(await request.json()).toBe(await request.json());
    await request.text();
    expect(parseJSON).toHaveBeenCalledTimes(1);
    expect(receive).toHaveBeenCalledTimes(1);
  });

  it("returns the same body to concurrent readers", async () => {
    const request = new Request({ type: "http", method: "POST", path: "/" }, receiving(part("[1]")));
    const [body, again, json, text] = await Promise.all([
      request.body(),
      request.body(),
      request.json(),
      request.text(),
    ]);
    expect(body).toBe(again);
    expect([Buffer.from(body).toString(), json, text]).toEqual(["[1]", [1], "[1]"]);
  });
});

const URLENCODED = { form: "a=1" };
const MULTIPART = multipart(["a", "1"]);
const JSON_BODY = { text: '{"a":1}' };

const bytesOf = (body: Uint8Array) => Buffer.from(body).toString();

async function firstPart(request: Request): Promise<void> {
  for await (const _ of request.stream()) break;
}

describeMatrix("the readers of a body", ({ call }) => {
  /** The result of a handler, or the message of its error. */
  async function read(sent: object, reader: (request: Request) => Promise<unknown>): Promise<unknown> {
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      try {
        return { gave: await reader(request) };
      } catch (error) {
        return { failed: String(error) };
      }
    });
    return (await call(app, "POST", "/", sent)).json;
  }

  it.each<[string, object, (request: Request) => Promise<unknown>, unknown]>([
    [
      "body() after body()",
      JSON_BODY,
      async (r) => [bytesOf(await r.body()), bytesOf(await r.body())],
      ['{"a":1}', '{"a":1}'],
    ],
    ["body() after json()", JSON_BODY, async (r) => [await r.json(), bytesOf(await r.body())], [{ a: 1 }, '{"a":1}']],
    ["json() after text()", JSON_BODY, async (r) => [await r.text(), await r.json()], ['{"a":1}', { a: 1 }]],
    [
      "stream() after body(), as often as it is asked for",
      JSON_BODY,
      async (r) => [bytesOf(await r.body()), await readAll(r.stream()), await readAll(r.stream())],
      ['{"a":1}', '{"a":1}', '{"a":1}'],
    ],
    [
      "form() after body(), urlencoded",
      URLENCODED,
      async (r) => [bytesOf(await r.body()), (await r.form()).get("a")],
      ["a=1", "1"],
    ],
    [
      "body() after form(), urlencoded",
      URLENCODED,
      async (r) => [(await r.form()).get("a"), bytesOf(await r.body())],
      ["1", "a=1"],
    ],
    [
      "form() after body(), multipart",
      MULTIPART,
      async (r) => [(await r.body()).length, (await r.form()).get("a")],
      [MULTIPART.body.length, "1"],
    ],
    ["form() after form()", MULTIPART, async (r) => (await r.form()) === (await r.form()), true],
    ["form() of a body that is none", JSON_BODY, async (r) => [...(await r.form()).entries()], []],
    [
      "body() after form() of no form",
      JSON_BODY,
      async (r) => [(await r.form()).has("a"), bytesOf(await r.body())],
      [false, '{"a":1}'],
    ],
  ])("get the same error from %s", async (_title, sent, reader, expected) => {
    expect(await read(sent, reader)).toEqual({ gave: expected });
  });

  it.each<[string, object, (request: Request) => Promise<unknown>, string]>([
    ["body() after form(), multipart", MULTIPART, async (r) => [await r.form(), await r.body()], "form()"],
    ["body() during form(), multipart", MULTIPART, (r) => Promise.all([r.form(), r.body()]), "form()"],
    ["stream() after form(), multipart", MULTIPART, async (r) => [await r.form(), await firstPart(r)], "form()"],
    ["body() after stream()", JSON_BODY, async (r) => [await readAll(r.stream()), await r.body()], "stream()"],
    ["body() after a part of stream()", JSON_BODY, async (r) => [await firstPart(r), await r.body()], "stream()"],
    ["json() after a part of stream()", JSON_BODY, async (r) => [await firstPart(r), await r.json()], "stream()"],
    ["form() after a part of stream()", MULTIPART, async (r) => [await firstPart(r), await r.form()], "stream()"],
    ["form() after stream(), urlencoded", URLENCODED, async (r) => [await firstPart(r), await r.form()], "stream()"],
    ["stream() after stream()", JSON_BODY, async (r) => [await firstPart(r), await firstPart(r)], "stream()"],
  ])("get the name of the earlier reader from %s", async (_title, sent, reader, taker) => {
    expect(await read(sent, reader)).toEqual({ failed: expect.stringContaining(`taken by ${taker}`) });
  });

  it("reject invalid JSON with 422, without code in the handler", async () => {
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => request.json());
    const answer = await call(app, "POST", "/", { text: "{" });
    expect([answer.status, answer.faults.map(({ type, loc }) => [type, loc])]).toEqual([
      422,
      [["json_invalid", ["body"]]],
    ]);
  });
});
