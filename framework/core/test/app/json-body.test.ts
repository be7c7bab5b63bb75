import { describe, expect, it } from "@jest/globals";
import type { HeaderPair, HTTPScope, ReceiveMessage, SendMessage } from "../../src/protocol/asgi.js";
import { App } from "../../src/app/app.js";
import { Depends, HeaderList, Request as RequestParam, t, withParams } from "../../src/index.js";
import { HTTPException } from "../../src/common/exceptions.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const part = (text: string, more = false): ReceiveMessage => ({
  type: "http.request",
  body: bytes(text),
  more_body: more,
});

const User = t.Object({ name: t.String(), age: t.Integer({ default: 1 }) });

const wait = async () => {};
const askForRequest = withParams({ request: RequestParam }, async () => {});

/** The same routes three times: bare; behind a guard, and with it a promise; behind one whose `Request` then reads the body. */
function createApp(guard: typeof wait | typeof askForRequest | null): App {
  const app = new App({ logger: new KeptLog(), limits: { bodyBytes: 64 }, docsUrl: null, redocUrl: null });
  const dependencies = guard ? [Depends(guard)] : [];
  app.post("/users/{id}", { dependencies, params: { id: t.Integer(), user: User } }, async (args) => args);
  app.post("/pair", { dependencies, params: { left: User, right: t.Optional(User) } }, async (args) => args);
  app.post("/late", { dependencies, params: { user: User, request: RequestParam } }, async ({ user, request }) => ({
    user,
    text: await request.text(),
  }));
  app.post("/fails", { dependencies, params: { user: User } }, async () => {
    throw new HTTPException(418);
  });
  app.exceptionHandler(418, async (_error, request) => ({ body: await request.text() }));
  return app;
}

interface Outcome {
  status: number | null;
  body: unknown;
  /** The number of received messages. */
  taken: number;
}

async function post(
  app: App,
  path: string,
  headers: Record<string, string> | HeaderList,
  messages: ReceiveMessage[],
): Promise<Outcome> {
  const outcome: Outcome = { status: null, body: null, taken: 0 };
  const list =
    headers instanceof HeaderList
      ? headers
      : Object.entries(headers).map(([name, value]): HeaderPair => [bytes(name), bytes(value)]);
  const scope: HTTPScope = { type: "http", method: "POST", path, query_string: bytes(""), headers: list };
  const receive = async () => messages[outcome.taken++] ?? ({ type: "http.disconnect" } as const);
  const send = (message: SendMessage) => {
    if (message.type === "http.response.start") outcome.status = message.status;
    if (message.type === "http.response.body") outcome.body = JSON.parse(new TextDecoder().decode(message.body));
  };
  await app(scope, receive, send);
  return outcome;
}

const JSON_TYPE = { "content-type": "application/json" };
const ADA = '{"name":"Ada"}';

const CASES: [
  what: string,
  path: string,
  headers: Record<string, string>,
  messages: ReceiveMessage[],
  status: number | null,
][] = [
  ["a whole body", "/users/7", JSON_TYPE, [part(ADA)], 200],
  ["a body in parts", "/users/7", JSON_TYPE, [part('{"name"', true), part(":", true), part('"Ada"}')], 200],
  ["a body whose end comes apart", "/users/7", JSON_TYPE, [part(ADA, true), part("")], 200],
  [
    "a media type in other letters",
    "/users/7",
    { "Content-Type": "Application/JSON; charset=utf-8" },
    [part(ADA)],
    200,
  ],
  ["a suffix of JSON", "/users/7", { "content-type": "application/ld+json" }, [part(ADA)], 200],
  ["another media type", "/users/7", { "content-type": "text/plain" }, [part(ADA)], 422],
  ["no media type", "/users/7", {}, [part(ADA)], 422],
  ["no body", "/users/7", JSON_TYPE, [part("")], 422],
  ["a message without a body", "/users/7", JSON_TYPE, [{ type: "http.request" }], 422],
  ["malformed JSON", "/users/7", JSON_TYPE, [part("{")], 422],
  ["invalid UTF-8", "/users/7", JSON_TYPE, [{ type: "http.request", body: Uint8Array.of(0x22, 0xff, 0x22) }], 422],
  ["a byte order mark", "/users/7", JSON_TYPE, [part(`\uFEFF${ADA}`)], 200],
  ["faults in path and body", "/users/x", JSON_TYPE, [part('{"name":1}')], 422],
  ["too much in one message", "/users/7", JSON_TYPE, [part(`{"name":"${"a".repeat(64)}"}`)], 413],
  ["too much in parts", "/users/7", JSON_TYPE, [part("a".repeat(40), true), part("a".repeat(40), true)], 413],
  ["too much announced", "/users/7", { ...JSON_TYPE, "content-length": "65" }, [part(ADA)], 413],
  ["a client that leaves before its body", "/users/7", JSON_TYPE, [], null],
  ["a client that leaves within its body", "/users/7", JSON_TYPE, [part("{", true)], null],
  ["two bodies, one optional", "/pair", JSON_TYPE, [part('{"left":{"name":"Ada"}}')], 200],
  ["two bodies, no object", "/pair", JSON_TYPE, [part("[]")], 422],
  ["the request beside the body", "/late", JSON_TYPE, [part(ADA)], 200],
  ["an error handler that reads the body", "/fails", JSON_TYPE, [part(ADA)], 418],
  ["an error handler that reads a body in parts", "/fails", JSON_TYPE, [part('{"name":', true), part('"Ada"}')], 418],
];

describe("a route with a JSON body and no code that runs before it", () => {
  it.each(CASES)("responds to %s like a route with a guard", async (_what, path, headers, messages, status) => {
    const plain = await post(createApp(null), path, headers, messages);
    const guarded = await post(createApp(wait), path, headers, messages);
    expect(plain.status).toBe(status);
    expect(plain).toEqual(guarded);
  });

  it.each(CASES)(
    "responds to %s like a route whose request reads the body",
    async (_what, path, headers, messages, status) => {
      const plain = await post(createApp(null), path, headers, messages);
      const read = await post(createApp(askForRequest), path, headers, messages);
      expect(plain.status).toBe(status);
      expect(read).toEqual({ ...plain, taken: expect.any(Number) });
    },
  );

  it("does not read headers if the server already describes the body", async () => {
    const content = { type: "application/json", length: ADA.length };
    const headers = new HeaderList(() => {
      throw new Error("The headers were read.");
    }, content);
    expect((await post(createApp(null), "/users/7", headers, [part(ADA)])).status).toBe(200);
    const long = new HeaderList([], { ...content, length: 65 });
    expect(await post(createApp(null), "/users/7", long, [part(ADA)])).toMatchObject({ status: 413, taken: 0 });
    const text = new HeaderList([], { ...content, type: "text/plain" });
    expect((await post(createApp(null), "/users/7", text, [part(ADA)])).status).toBe(422);
  });

  it("provides the whole body again to a request that is created later", async () => {
    const { body } = await post(createApp(null), "/fails", JSON_TYPE, [part(ADA)]);
    expect(body).toEqual({ body: ADA });
  });
});
