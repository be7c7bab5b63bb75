/** A whole body of ASCII text is the same response as its bytes, with any middleware. */
import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import type { ASGIApp, HTTPResponseBodyMessage, SendMessage } from "../../src/protocol/asgi.js";
import type { Middleware } from "../../src/middleware/chain.js";
import { ASCIIBody } from "../../src/protocol/response.js";
import { servers } from "../../../conformance/test/_servers.js";
import { KeptLog } from "../../../test/support/kept-log.js";

/** Middleware that hands each body message on as `change` returns it. */
const changing =
  (change: (message: HTTPResponseBodyMessage) => HTTPResponseBodyMessage): Middleware =>
  (app) =>
  (scope, receive, send) =>
    app(scope, receive, (message) => send(message.type === "http.response.body" ? change(message) : message));

const upper = (bytes: Uint8Array | undefined) =>
  Buffer.from(
    Buffer.from(bytes ?? [])
      .toString()
      .toUpperCase(),
  );

const WAYS: readonly (readonly [string, (message: HTTPResponseBodyMessage) => HTTPResponseBodyMessage, string])[] = [
  ["hands it on", (message) => message, '{"a":"b"}'],
  ["hands on a copy", (message) => ({ ...message }), '{"a":"b"}'],
  ["hands on a copy with other bytes", (message) => ({ ...message, body: upper(message.body) }), '{"A":"B"}'],
  ["changes its bytes", (message) => Object.assign(message, { body: upper(message.body) }), '{"A":"B"}'],
  [
    "hands on its bytes",
    ({ body, more_body = false }) => ({ type: "http.response.body", body, more_body }) as never,
    '{"a":"b"}',
  ],
  ["hands on a structured clone", (message) => structuredClone(message), '{"a":"b"}'],
];

/** An application, and the body messages that it has sent. */
function create(change?: (message: HTTPResponseBodyMessage) => HTTPResponseBodyMessage) {
  const app = new App({ logger: new KeptLog() });
  app.get("/", async () => ({ a: "b" }));
  const sent: SendMessage[] = [];
  const seeing: Middleware = (inner) => (scope, receive, send) =>
    inner(scope, receive, (message) => {
      sent.push(message);
      return send(message);
    });
  app.addMiddleware(seeing);
  if (change) app.addMiddleware(changing(change));
  return { app, sent };
}

async function bodyOf(server: Awaited<ReturnType<(typeof servers)[number]["start"]>>): Promise<string> {
  const { body } = await server.request({ target: "/" });
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe.each(servers)("a JSON response, by $name", ({ start }) => {
  it.each(WAYS)("is whole if a middleware %s", async (_title, change, expected) => {
    const { app, sent } = create(change);
    const server = await start(app);
    expect(await bodyOf(server)).toBe(expected);
    await server.close();
    expect(sent.filter((message) => message instanceof ASCIIBody)).toHaveLength(1);
  });
});

describe("a JSON response", () => {
  it("is plain messages of bytes for a server of another make", async () => {
    const { app } = create();
    const sent: SendMessage[] = [];
    await app(
      { type: "http", method: "GET", path: "/" },
      () => new Promise(() => {}),
      (message) => void sent.push(message),
    );
    expect(sent[1]).toEqual({ type: "http.response.body", body: Buffer.from('{"a":"b"}'), more_body: false });
  });

  it("is bytes if its text is not ASCII", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/", async () => "é");
    const [subject] = servers;
    const server = await subject!.start(app);
    expect(await bodyOf(server)).toBe('"é"');
    await server.close();
  });
});

describe("a body message of an application of another make", () => {
  const sending =
    (...messages: readonly object[]): ASGIApp =>
    async (scope, _receive, send) => {
      if (scope.type !== "http") return;
      await send({ type: "http.response.start", status: 200, headers: [] });
      for (const message of messages) await send(message as SendMessage);
    };
  const BODY = { type: "http.response.body" };

  it.each([
    ["ASCII text", [{ ...BODY, ascii: "text" }], "text"],
    ["bytes in front of text", [{ ...BODY, body: Buffer.from("bytes"), ascii: "text" }], "bytes"],
    [
      "ASCII text in parts",
      [
        { ...BODY, ascii: "te", more_body: true },
        { ...BODY, ascii: "xt" },
      ],
      "text",
    ],
  ])("may have %s", async (_title, messages, expected) => {
    const [subject] = servers;
    const server = await subject!.start(sending(...messages));
    expect(await bodyOf(server)).toBe(expected);
    await server.close();
  });

  it("is rejected if its text is not ASCII", async () => {
    const [subject] = servers;
    const server = await subject!.start(sending({ ...BODY, ascii: "é" }));
    expect((await server.request({ target: "/" })).status).toBe(500);
    await server.close();
  });
});
