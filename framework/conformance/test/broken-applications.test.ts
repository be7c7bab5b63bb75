import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HeaderPair, ReceiveMessage, Scope, SendMessage } from "tsgi";
import { applicationStatements, checkApplication, echo } from "../src/index.js";

type Call = Parameters<ASGIApp>;

/** A middleware around `echo` that is broken on purpose. */
type Broken = readonly [what: string, breaks: readonly string[], app: ASGIApp];

/** An application with different behavior for scopes of one type. */
const on =
  (type: string, act: (...call: Call) => Promise<void>): ASGIApp =>
  (...call) =>
    (call[0].type === type ? act : echo)(...call);

/** An application that changes its sent messages for scopes of one type. */
const sending = (type: string, change: (message: SendMessage) => object): ASGIApp =>
  // A broken application sends values that no type allows.
  on(type, (scope, receive, send) => echo(scope, receive, async (message) => send(change(message) as SendMessage)));

/** An application that changes its received messages for scopes of one type. */
const receiving = (type: string, change: (message: ReceiveMessage) => object): ASGIApp =>
  on(type, (scope, receive, send) => echo(scope, async () => change(await receive()) as ReceiveMessage, send));

const bytes = (text: string) => new TextEncoder().encode(text);
const start = (message: SendMessage, fields: object) =>
  message.type === "http.response.start" ? { ...message, ...fields } : message;
const pair = (name: string, value: string): HeaderPair => [bytes(name), bytes(value)];

/** Adds a key to the scope of the server. */
const marking = (type: string): ASGIApp =>
  on(type, (scope, receive, send) => echo(Object.assign(scope, { asgi: { version: "3.0" } }), receive, send));

/** Takes some keys of the scope for granted. */
const needing = (type: string, look: (scope: Scope & Record<string, unknown>) => unknown): ASGIApp =>
  on(type, async (scope, receive, send) => {
    if (!look(scope as Scope & Record<string, unknown>)) throw new TypeError("A key is missing.");
    await echo(scope, receive, send);
  });

const broken: readonly Broken[] = [
  [
    "says nothing to a scope that it does not know",
    ["scope.unknown-type"],
    async (...call) => {
      if (["http", "websocket", "lifespan"].includes(call[0].type)) await echo(...call);
    },
  ],
  ["marks the scope of a request", ["http.scope.untouched"], marking("http")],
  ["marks the scope of a WebSocket", ["websocket.scope.untouched"], marking("websocket")],
  ["marks the scope of the lifespan", ["lifespan.scope.untouched"], marking("lifespan")],
  ["needs the client of a request", ["http.scope.optional-keys"], needing("http", ({ client }) => client)],
  ["needs the client of a WebSocket", ["websocket.scope.optional-keys"], needing("websocket", ({ client }) => client)],
  [
    "says nothing to a lifespan without state",
    ["lifespan.scope.optional-keys"],
    on("lifespan", async (scope, receive, send) => {
      if (scope.type === "lifespan" && scope.state) await echo(scope, receive, send);
    }),
  ],
  ["takes an unknown key for an error", ["http.scope.extra-keys"], needing("http", (scope) => !("x.unknown" in scope))],
  [
    "needs an array of headers",
    ["http.scope.headers-iterable"],
    needing("http", ({ headers }) => Array.isArray(headers)),
  ],
  [
    "sends a body before the start",
    ["http.response.order"],
    on("http", (scope, receive, send) => {
      const sent: SendMessage[] = [];
      return echo(scope, receive, async (message) => {
        if (sent.push(message) === 2)
          for (const each of sent.toReversed()) await send({ ...each, more_body: each !== message } as SendMessage);
        else if (sent.length > 2) await send(message);
      });
    }),
  ],
  [
    "sends the status as text",
    ["http.response.status"],
    sending("http", (message) => start(message, { status: "200" })),
  ],
  [
    "sends headers as text",
    ["http.response.headers", "http.response.header-names"],
    sending("http", (message) => start(message, { headers: [["x-test", "text"]] })),
  ],
  [
    "sends names in upper case",
    ["http.response.header-names"],
    sending("http", (message) => start(message, { headers: [pair("X-Test", "a")] })),
  ],
  [
    "sends a body as text",
    ["http.response.body"],
    on("http", (scope, receive, send) =>
      echo(scope, receive, async (message) => {
        const isEmpty = message.type === "http.response.body" && message.body === undefined;
        const text = { ...message, body: "" } as unknown as SendMessage;
        await send(isEmpty && scope.type === "http" && scope.method === "GET" ? text : message);
      }),
    ),
  ],
  [
    "does not wait for what it sends",
    ["http.response.one-at-a-time"],
    on("http", async (scope, receive, send) => {
      const pending: Promise<void>[] = [];
      await echo(scope, receive, (message) => void pending.push(Promise.resolve(send(message))));
      await Promise.all(pending);
    }),
  ],
  [
    "reads the first part of a body alone",
    ["http.request.body", "http.request.optional-keys", "http.disconnect.ends"],
    receiving("http", (message) => (message.type === "http.request" ? { ...message, more_body: false } : message)),
  ],
  [
    "needs the body of each message",
    ["http.request.optional-keys"],
    receiving("http", (message) => {
      if (message.type === "http.request" && message.more_body === true && message.body === undefined)
        throw new TypeError("body");
      return message;
    }),
  ],
  [
    "takes a message of an unknown type for an empty part",
    ["http.request.unknown-type"],
    receiving("http", (message) =>
      message.type.endsWith(".unknown") ? { type: "http.request", more_body: true } : message,
    ),
  ],
  [
    "waits for ever when the client has left in the middle of the body",
    ["http.disconnect.ends"],
    on("http", (scope, receive, send) =>
      echo(
        scope,
        async () => {
          const message = await receive();
          return message.type === "http.disconnect" ? new Promise<never>(() => {}) : message;
        },
        send,
      ),
    ),
  ],
  [
    "waits for ever when send throws",
    ["http.disconnect.send"],
    on("http", (scope, receive, send) =>
      echo(scope, receive, async (message) => Promise.resolve(send(message)).catch(() => new Promise<never>(() => {}))),
    ),
  ],
  [
    "accepts before it has received anything",
    ["websocket.connect"],
    on("websocket", async (scope, receive, send) => {
      await send({ type: "websocket.accept" });
      await echo(
        scope,
        async () => {
          const message = await receive();
          return message.type === "websocket.connect" ? receive() : message;
        },
        send,
      );
    }),
  ],
  [
    "accepts a subprotocol that nobody offers",
    ["websocket.accept"],
    sending("websocket", (message) =>
      message.type === "websocket.accept" ? { ...message, subprotocol: "chat" } : message,
    ),
  ],
  [
    "sends text with bytes",
    ["websocket.text"],
    sending("websocket", (message) =>
      message.type === "websocket.send" && message.text ? { ...message, bytes: bytes("") } : message,
    ),
  ],
  [
    "sends bytes with text",
    ["websocket.bytes"],
    sending("websocket", (message) =>
      message.type === "websocket.send" && message.bytes ? { ...message, text: "" } : message,
    ),
  ],
  [
    "sends behind the disconnect",
    ["websocket.disconnect.ends"],
    on("websocket", async (scope, receive, send) => {
      await echo(scope, receive, send);
      await send({ type: "websocket.send", text: "bye" });
    }),
  ],
  [
    "needs the code of a disconnect",
    ["websocket.disconnect.optional-keys"],
    receiving("websocket", (message) => {
      if (message.type === "websocket.disconnect" && message.code === undefined) throw new TypeError("code");
      return message;
    }),
  ],
  [
    "waits for ever where the client has left early",
    ["websocket.disconnect.early"],
    on("websocket", async (scope, receive, send) => {
      const first = await receive();
      if (first.type === "websocket.disconnect") await new Promise(() => {});
      let next: ReceiveMessage | null = first;
      await echo(
        scope,
        async () => {
          const message = next ?? (await receive());
          next = null;
          return message;
        },
        send,
      );
    }),
  ],
  [
    "answers the start before it is asked",
    ["lifespan.startup"],
    on("lifespan", async (_scope, receive, send) => {
      await send({ type: "lifespan.startup.complete" });
      await receive();
      await receive();
      await send({ type: "lifespan.shutdown.complete" });
    }),
  ],
  [
    "answers the shutdown twice",
    ["lifespan.shutdown"],
    on("lifespan", async (scope, receive, send) => {
      await echo(scope, receive, send);
      await send({ type: "lifespan.shutdown.complete" });
    }),
  ],
];

describe("an application that is broken on purpose", () => {
  it.each(broken)("breaks exactly the expected statements: it %s", async (_what, breaks, app) => {
    const results = await checkApplication(app, { echo: "/", websocket: "/" });
    const failed = results.filter(({ passed }) => !passed).map(({ statement }) => statement.id);
    expect(failed.toSorted()).toEqual(breaks.toSorted());
  });

  it("is there for every statement", () => {
    const named = new Set(broken.flatMap(([, breaks]) => breaks));
    expect(applicationStatements.map(({ id }) => id).filter((id) => !named.has(id))).toEqual([]);
  });
});
