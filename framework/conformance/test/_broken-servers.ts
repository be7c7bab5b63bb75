/** Servers that are broken on purpose, each by one change between a server and the application. */
import type { ASGIApp, HeaderPair, ReceiveMessage, Scope, SendMessage } from "tsgi";
import type { StartServer } from "../src/index.js";

/** A server that breaks the statements that it names, and no other. */
export interface BrokenServer {
  readonly what: string;
  readonly breaks: readonly string[];
  /** Stands around the application. */
  readonly wrap?: (app: ASGIApp) => ASGIApp;
  /** Stands around the whole server. */
  readonly around?: (start: StartServer) => StartServer;
  /** Set where the statement needs frames, or headers as they were sent. */
  readonly onSocket?: true;
}

type AnyMessage = Record<string, unknown> & { readonly type: string };
type SendNext = (message: object) => Promise<void> | void;

// A broken server uses values that no type allows: the casts are all here.
const toScope = (scope: object): Scope => scope as Scope;
const toReceived = (message: object): ReceiveMessage => message as ReceiveMessage;
const toSent = (message: object): SendMessage => message as SendMessage;

/** Changes the scopes of one type. */
function scopes(type: Scope["type"], change: (scope: Scope & Record<string, unknown>) => object) {
  return (app: ASGIApp): ASGIApp =>
    (scope, receive, send) =>
      app(
        scope.type === type ? toScope({ ...scope, ...change(scope as Scope & Record<string, unknown>) }) : scope,
        receive,
        send,
      );
}

/** Changes the messages that scopes of one type receive. */
function received(type: Scope["type"], change: (message: AnyMessage, scope: Scope) => object | null) {
  return (app: ASGIApp): ASGIApp =>
    async (scope, receive, send) => {
      const changed = async (): Promise<ReceiveMessage> => {
        for (;;) {
          const message = change((await receive()) as unknown as AnyMessage, scope);
          if (message !== null) return toReceived(message);
        }
      };
      await app(scope, scope.type === type ? changed : receive, send);
    };
}

/** Changes the messages that scopes of one type send. The result of `make` belongs to one call. */
function sent(type: Scope["type"], make: () => (message: AnyMessage, next: SendNext) => Promise<void> | void) {
  return (app: ASGIApp): ASGIApp =>
    async (scope, receive, send) => {
      if (scope.type !== type) return app(scope, receive, send);
      const change = make();
      await app(scope, receive, async (message) =>
        change(message as unknown as AnyMessage, (changed) => send(toSent(changed))),
      );
    };
}

/** Changes one message, regardless of earlier ones. */
const each = (change: (message: AnyMessage) => object | null) => () => (message: AnyMessage, next: SendNext) => {
  const changed = change(message);
  return changed === null ? undefined : next(changed);
};

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (value: unknown) => (value instanceof Uint8Array ? new TextDecoder().decode(value) : "");

function* once(headers: Iterable<HeaderPair>): Generator<HeaderPair> {
  yield* headers;
}

const upperCase = (headers: Iterable<HeaderPair> = []): HeaderPair[] =>
  Array.from(headers, ([name, value]) => [bytes(text(name).toUpperCase()), value]);

const withoutHost = (headers: Iterable<HeaderPair> = []): HeaderPair[] =>
  Array.from(headers).filter(([name]) => text(name) !== "host");

const lastOfEach = (headers: Iterable<HeaderPair> = []): HeaderPair[] => [
  ...new Map(Array.from(headers, (pair) => [text(pair[0]), pair])).values(),
];

type ScopeChange = (scope: Scope & Record<string, unknown>) => object;

const encodeAgain: ScopeChange = ({ path, raw_path: raw }) =>
  raw === undefined ? { raw_path: bytes(String(path).replaceAll(":", "%3A")) } : {};

const withoutEmptySegments: ScopeChange = ({ path, raw_path: raw }) => ({
  raw_path: bytes((text(raw) || String(path)).replaceAll("//", "/")),
});

/** Servers that each give one wrong field of a scope. */
function withScopes(
  type: "http" | "websocket",
  rows: readonly (readonly [what: string, name: string, change: ScopeChange])[],
): BrokenServer[] {
  return rows.map(([what, name, change]) => ({
    what,
    breaks: [`${type}.scope.${name}`],
    wrap: scopes(type, change),
  }));
}

const onHTTPScopes = withScopes("http", [
  ["a version that is a number", "asgi-version", () => ({ asgi: { version: 3 } })],
  ["the version of HTTP with its name", "http-version", () => ({ http_version: "HTTP/1.1" })],
  ["a method in lower case", "method", ({ method }) => ({ method: String(method).toLowerCase() })],
  ["an empty scheme", "scheme", () => ({ scheme: "" })],
  ["a path that is not decoded", "path", ({ path, raw_path: raw }) => ({ path: text(raw) || path })],
  ["a raw path that is decoded", "raw-path", ({ path }) => ({ raw_path: bytes(String(path)) })],
  ["a raw path that is encoded again", "raw-path", encodeAgain],
  ["a raw path without empty segments", "raw-path", withoutEmptySegments],
  [
    "a query that is decoded",
    "query-string",
    ({ query_string: query }) => ({ query_string: bytes(decodeURI(text(query))) }),
  ],
  [
    "no query for an empty one",
    "no-query-string",
    ({ query_string: query }) => ({ query_string: text(query) === "" ? undefined : query }),
  ],
  ["a root path of a slash", "root-path", () => ({ root_path: "/" })],
  ["headers that can be read once", "headers", ({ headers }) => ({ headers: once(headers as HeaderPair[]) })],
  [
    "names of headers in upper case",
    "header-names",
    ({ headers }) => ({ headers: upperCase(headers as HeaderPair[]) }),
  ],
  ["no host", "host", ({ headers }) => ({ headers: withoutHost(headers as HeaderPair[]) })],
  ["the client as text", "client", () => ({ client: "127.0.0.1:80" })],
  ["a server without a port", "server", () => ({ server: ["127.0.0.1"] })],
  ["an extension that is a flag", "extensions", () => ({ extensions: { flag: true } })],
]);

/** Gives the first scope again and again, with the values of each. */
function reuse(app: ASGIApp): ASGIApp {
  const first = {};
  return (scope, receive, send) =>
    app(scope.type === "http" ? toScope(Object.assign(first, scope)) : scope, receive, send);
}

const onHTTPRequests: readonly BrokenServer[] = [
  { what: "one scope for all requests", breaks: ["http.scope.own"], wrap: reuse },
  {
    what: "repeated headers once",
    breaks: ["http.scope.repeated-headers"],
    wrap: scopes("http", ({ headers }) => ({ headers: lastOfEach(headers as HeaderPair[]) })),
    onSocket: true,
  },
  {
    what: "a body where there is none",
    breaks: ["http.request.empty"],
    wrap: received("http", (message, scope) =>
      scope.type === "http" && scope.method === "GET" && message.type === "http.request"
        ? { ...message, body: bytes("x") }
        : message,
    ),
  },
  {
    what: "a part of the body lost",
    breaks: ["http.request.body"],
    wrap: received("http", (message) => (text(message["body"]) === "two," ? null : message)),
  },
  {
    what: "the body once it is whole",
    breaks: ["http.request.streamed"],
    wrap: (app) => async (scope, receive, send) => {
      const parts: Uint8Array[] = [];
      const whole = async (): Promise<ReceiveMessage> => {
        for (;;) {
          const message = await receive();
          if (message.type !== "http.request") return message;
          parts.push(message.body ?? bytes(""));
          if (message.more_body !== true) return { type: "http.request", body: Buffer.concat(parts) };
        }
      };
      await app(scope, scope.type === "http" ? whole : receive, send);
    },
  },
];

/** Ends the response of an application that throws: before its start with 200, after it as if it were complete. */
function mend(when: "before" | "within") {
  return (app: ASGIApp): ASGIApp =>
    async (scope, receive, send) => {
      let began = false;
      try {
        await app(scope, receive, async (message) => {
          began = true;
          await send(message);
        });
      } catch (error) {
        if (scope.type !== "http" || began !== (when === "within")) throw error;
        if (!began) await send({ type: "http.response.start", status: 200, headers: [] });
        await send({ type: "http.response.body" });
      }
    };
}

const onHTTPResponses: readonly BrokenServer[] = [
  {
    what: "another status",
    breaks: ["http.response.status"],
    wrap: sent(
      "http",
      each((message) => (message["status"] === 418 ? { ...message, status: 200 } : message)),
    ),
  },
  {
    what: "one of several headers",
    breaks: ["http.response.headers"],
    wrap: sent(
      "http",
      each((message) =>
        message["headers"] === undefined
          ? message
          : { ...message, headers: lastOfEach(message["headers"] as HeaderPair[]) },
      ),
    ),
  },
  {
    what: "no headers but those of an array",
    breaks: ["http.response.headers-iterable"],
    wrap: sent(
      "http",
      each((message) => (message["headers"] instanceof Set ? { ...message, headers: [] } : message)),
    ),
  },
  {
    what: "an error for a start without headers",
    breaks: ["http.response.headers-optional"],
    wrap: sent(
      "http",
      each((message) => {
        if (message.type === "http.response.start" && message["headers"] === undefined) throw new TypeError("headers");
        return message;
      }),
    ),
  },
  {
    what: "chunks that the application wrote, decoded",
    breaks: ["http.response.transfer-encoding"],
    wrap: sent(
      "http",
      each((message) => (text(message["body"]).startsWith("2\r\n") ? { ...message, body: bytes("ok") } : message)),
    ),
  },
  {
    what: "a part of the answer lost",
    breaks: ["http.response.body"],
    wrap: sent(
      "http",
      each((message) => (text(message["body"]) === "two," ? null : message)),
    ),
  },
  {
    what: "an error for a message without a body",
    breaks: ["http.response.body-optional"],
    wrap: sent(
      "http",
      each((message) => {
        if (message.type === "http.response.body" && message["body"] === undefined) throw new TypeError("body");
        return message;
      }),
    ),
  },
  {
    what: "a part held back until the next comes",
    breaks: ["http.response.flush"],
    wrap: sent("http", () => {
      let held: AnyMessage | null = null;
      return async (message, next) => {
        if (held !== null) await next(held);
        held = text(message["body"]) === "first" ? message : null;
        if (held === null) await next(message);
      };
    }),
  },
  {
    what: "an error behind the last body",
    breaks: ["http.response.after-end"],
    wrap: sent("http", () => {
      let isOver = false;
      return async (message, next) => {
        if (isOver) throw new Error("It is over.");
        await next(message);
        isOver = message.type === "http.response.body" && message["more_body"] !== true;
      };
    }),
  },
  {
    what: "a start of its own before a body",
    breaks: ["http.response.start-first"],
    wrap: sent("http", () => {
      let began = false;
      return async (message, next) => {
        if (!began && message.type === "http.response.body") await next({ type: "http.response.start", status: 200 });
        began ||= message.type.startsWith("http.response.");
        await next(message);
      };
    }),
  },
  {
    what: "a second start left out",
    breaks: ["http.response.start-once"],
    wrap: sent("http", () => {
      let began = false;
      return async (message, next) => {
        const isStart = message.type === "http.response.start";
        if (!(began && isStart)) await next(message);
        began ||= isStart;
      };
    }),
  },
  {
    what: "messages of an unknown type left out",
    breaks: ["http.send.unknown-type"],
    wrap: sent(
      "http",
      each((message) => (message.type === "http.unknown" ? null : message)),
    ),
  },
  {
    what: "a status of its own where none is given",
    breaks: ["http.send.missing-key"],
    wrap: sent(
      "http",
      each((message) => (message.type === "http.response.start" ? { status: 200, ...message } : message)),
    ),
  },
  {
    what: "text for headers",
    breaks: ["http.send.text-header"],
    wrap: sent(
      "http",
      each((message) => {
        const pairs = Array.from((message["headers"] ?? []) as unknown[][]);
        const encoded = pairs.map((pair) => pair.map((part) => (typeof part === "string" ? bytes(part) : part)));
        return message.type === "http.response.start" ? { ...message, headers: encoded } : message;
      }),
    ),
  },
  {
    what: "text for a body",
    breaks: ["http.send.text-body"],
    wrap: sent(
      "http",
      each((message) => (typeof message["body"] === "string" ? { ...message, body: bytes(message["body"]) } : message)),
    ),
  },
  {
    what: "an error for a key that it does not know",
    breaks: ["http.send.extra-keys"],
    wrap: sent(
      "http",
      each((message) => {
        if ("x.unknown" in message) throw new TypeError("x.unknown");
        return message;
      }),
    ),
  },
  {
    what: "no disconnect behind the response",
    breaks: ["http.disconnect.after-end"],
    wrap: (app) => async (scope, receive, send) => {
      let isOver = false;
      await app(
        scope,
        async () => (isOver && scope.type === "http" ? { type: "http.request" } : receive()),
        async (message) => {
          await send(message);
          isOver ||= message.type === "http.response.body" && message.more_body !== true;
        },
      );
    },
  },
  {
    what: "no disconnect when the client leaves",
    breaks: ["http.disconnect.client"],
    wrap: (app) => async (scope, receive, send) => {
      let isOver = false;
      await app(
        scope,
        async () => {
          const message = await receive();
          return message.type === "http.disconnect" && !isOver ? { type: "http.request" } : message;
        },
        async (message) => {
          isOver ||= message.type === "http.response.body" && message.more_body !== true;
          await send(message);
        },
      );
    },
  },
  {
    what: "no error of send when the client has left",
    breaks: ["http.disconnect.send"],
    wrap: sent("http", () => async (message, next) => {
      try {
        await next(message);
      } catch (error) {
        if (text(message["body"]) !== "lost") throw error;
      }
    }),
  },
  { what: "200 for an error", breaks: ["http.error.before-response"], wrap: mend("before") },
  { what: "an end for an error", breaks: ["http.error.in-response"], wrap: mend("within") },
];

const onWebSocketScopes = withScopes("websocket", [
  ["a version that is a number", "asgi-version", () => ({ asgi: { version: 3 } })],
  ["the version of HTTP with its name", "http-version", () => ({ http_version: "HTTP/1.1" })],
  ["the scheme of HTTP", "scheme", () => ({ scheme: "http" })],
  ["a path that is not decoded", "path", ({ path, raw_path: raw }) => ({ path: text(raw) || path })],
  ["a raw path that is decoded", "raw-path", ({ path }) => ({ raw_path: bytes(String(path)) })],
  ["a raw path that is encoded again", "raw-path", encodeAgain],
  ["a raw path without empty segments", "raw-path", withoutEmptySegments],
  ["a query as text", "query-string", ({ query_string: query }) => ({ query_string: text(query) })],
  ["headers that can be read once", "headers", ({ headers }) => ({ headers: once(headers as HeaderPair[]) })],
  ["the client as text", "addresses", () => ({ client: "127.0.0.1:80" })],
  [
    "subprotocols in another order",
    "subprotocols",
    ({ subprotocols }) => ({ subprotocols: (subprotocols as string[]).toReversed() }),
  ],
  [
    "a subprotocol that nobody offers",
    "no-subprotocols",
    ({ subprotocols }) => ((subprotocols as string[]).length > 0 ? {} : { subprotocols: ["chat"] }),
  ],
]);

/** Accepts at once, and leaves out the application's own accept. */
function acceptEarly(app: ASGIApp): ASGIApp {
  return async (scope, receive, send) => {
    if (scope.type === "websocket") await send({ type: "websocket.accept" });
    await app(scope, receive, async (message) => {
      if (message.type !== "websocket.accept") await send(message);
    });
  };
}

const onHandshakes: readonly BrokenServer[] = [
  {
    what: "another name of websocket.connect",
    breaks: ["websocket.connect.first"],
    wrap: received("websocket", (message) =>
      message.type === "websocket.connect" ? { type: "websocket.connected" } : message,
    ),
  },
  {
    what: "a handshake that does not wait",
    breaks: [
      "websocket.connect.waits",
      "websocket.accept.subprotocol",
      "websocket.accept.headers",
      "websocket.close.before-accept",
      "websocket.send.before-accept",
    ],
    wrap: acceptEarly,
  },
  {
    what: "no subprotocol",
    breaks: ["websocket.accept.subprotocol"],
    wrap: sent(
      "websocket",
      each((message) => ({ ...message, ...(message["subprotocol"] !== undefined && { subprotocol: null }) })),
    ),
  },
  {
    what: "a subprotocol of its own choice",
    breaks: ["websocket.accept.no-subprotocol"],
    wrap: (app) => (scope, receive, send) =>
      app(scope, receive, async (message) => {
        const offer = scope.type === "websocket" ? scope.subprotocols?.[0] : undefined;
        const chosen = message.type === "websocket.accept" && message.subprotocol === null && offer;
        await send(chosen ? { ...message, subprotocol: chosen } : message);
      }),
  },
  {
    what: "no headers of the accept",
    breaks: ["websocket.accept.headers"],
    wrap: sent(
      "websocket",
      each((message) => ({ ...message, headers: [] })),
    ),
  },
  {
    what: "a handshake that is completed to be closed",
    breaks: ["websocket.close.before-accept"],
    wrap: sent("websocket", () => {
      let isAccepted = false;
      return async (message, next) => {
        if (message.type === "websocket.close" && !isAccepted) await next({ type: "websocket.accept" });
        isAccepted ||= message.type === "websocket.accept";
        await next(message);
      };
    }),
  },
];

const onMessages: readonly BrokenServer[] = [
  {
    what: "bytes beside text",
    breaks: ["websocket.receive.text"],
    wrap: received("websocket", (message) => (message["text"] ? { ...message, bytes: bytes("") } : message)),
  },
  {
    what: "text beside bytes",
    breaks: ["websocket.receive.bytes"],
    wrap: received("websocket", (message) => (message["bytes"] ? { ...message, text: "" } : message)),
  },
  {
    what: "the first fragment alone",
    breaks: ["websocket.receive.fragments"],
    wrap: received("websocket", (message) =>
      message["text"] === "one,two,three" ? { ...message, text: "one," } : message,
    ),
    onSocket: true,
  },
  {
    what: "a pong without the payload",
    breaks: ["websocket.ping"],
    around: (start) => async (app) => {
      const server = await start(app);
      return {
        ...server,
        websocket: async (request) => {
          const answer = await server.websocket?.(request);
          if (answer?.webSocket) answer.webSocket.ping = async () => "";
          return answer as typeof answer & object;
        },
      };
    },
    onSocket: true,
  },
  {
    what: "an error for bytes that are null",
    breaks: ["websocket.send.text"],
    wrap: sent(
      "websocket",
      each((message) => {
        if (message["text"] && message["bytes"] === null) throw new TypeError("bytes");
        return message;
      }),
    ),
  },
  {
    what: "an error for text that is null",
    breaks: ["websocket.send.bytes"],
    wrap: sent(
      "websocket",
      each((message) => {
        if (message["bytes"] && message["text"] === null) throw new TypeError("text");
        return message;
      }),
    ),
  },
  {
    what: "an error for empty text",
    breaks: ["websocket.send.empty-text"],
    wrap: sent(
      "websocket",
      each((message) => {
        if (message["text"] === "") throw new TypeError("text");
        return message;
      }),
    ),
  },
  {
    what: "an error for a key that it does not know",
    breaks: ["websocket.send.extra-keys"],
    wrap: sent(
      "websocket",
      each((message) => {
        if ("x.unknown" in message) throw new TypeError("x.unknown");
        return message;
      }),
    ),
  },
  {
    what: "a message with neither text nor bytes left out",
    breaks: ["websocket.send.neither"],
    wrap: sent(
      "websocket",
      each((message) =>
        message.type === "websocket.send" && message["text"] === null && message["bytes"] === null ? null : message,
      ),
    ),
  },
  {
    what: "the text of a message with both",
    breaks: ["websocket.send.both"],
    wrap: sent(
      "websocket",
      each((message) => (message["text"] && message["bytes"] ? { ...message, bytes: null } : message)),
    ),
  },
  {
    what: "messages of an unknown type left out",
    breaks: ["websocket.send.unknown-type"],
    wrap: sent(
      "websocket",
      each((message) => (message.type === "websocket.unknown" ? null : message)),
    ),
  },
  {
    what: "messages before the accept left out",
    breaks: ["websocket.send.before-accept"],
    wrap: sent(
      "websocket",
      each((message) => (message["text"] === "early" ? null : message)),
    ),
  },
];

const onEnds: readonly BrokenServer[] = [
  {
    what: "a code of its own for that of the client",
    breaks: ["websocket.disconnect.code"],
    wrap: received("websocket", (message) => (message["code"] === 4001 ? { ...message, code: 1006 } : message)),
  },
  {
    what: "1000 where the client gives no code",
    breaks: ["websocket.disconnect.no-code"],
    wrap: received("websocket", (message) => (message["code"] === 1005 ? { ...message, code: 1000 } : message)),
    onSocket: true,
  },
  {
    what: "an empty message for a connection that is lost",
    breaks: ["websocket.disconnect.lost"],
    wrap: received("websocket", (message) =>
      message["code"] === 1006 ? { type: "websocket.receive", text: "" } : message,
    ),
  },
  {
    what: "no error of send when the client has left",
    breaks: ["websocket.disconnect.send"],
    wrap: sent("websocket", () => async (message, next) => {
      if (message["text"] !== "lost") await next(message);
    }),
  },
  {
    what: "no disconnect behind a close",
    breaks: ["websocket.disconnect.after-close"],
    wrap: (app) => async (scope, receive, send) => {
      let isClosed = false;
      await app(
        scope,
        async () => {
          const message = await receive();
          return isClosed && message.type === "websocket.disconnect"
            ? { type: "websocket.receive", text: "" }
            : message;
        },
        async (message) => {
          isClosed ||= message.type === "websocket.close";
          await send(message);
        },
      );
    },
  },
  {
    what: "no reason",
    breaks: ["websocket.close.code"],
    wrap: sent(
      "websocket",
      each((message) => (message["reason"] === "bye" ? { ...message, reason: "" } : message)),
    ),
  },
  {
    what: "another code where none is given",
    breaks: ["websocket.close.default"],
    wrap: sent(
      "websocket",
      each((message) => (message.type === "websocket.close" ? { code: 1001, ...message } : message)),
    ),
  },
  {
    what: "an error for a reason that is null",
    breaks: ["websocket.close.null-reason"],
    wrap: sent(
      "websocket",
      each((message) => {
        if (message["reason"] === null) throw new TypeError("reason");
        return message;
      }),
    ),
  },
  {
    what: "a WebSocket that stays open without its application",
    breaks: ["websocket.return"],
    wrap: (app) => async (scope, receive, send) => {
      await app(scope, receive, send);
      while (scope.type === "websocket" && (await receive()).type !== "websocket.disconnect");
    },
  },
  {
    what: "1000 for an error",
    breaks: ["websocket.error"],
    wrap: (app) => async (scope, receive, send) => {
      const over = app(scope, receive, send);
      await (scope.type === "websocket" ? over.catch(() => {}) : over);
    },
  },
];

/** Responds to a message of the lifespan instead of the application, and drops its own responses. */
function answering(event: "startup" | "shutdown") {
  return (app: ASGIApp): ASGIApp =>
    async (scope, receive, send) => {
      if (scope.type !== "lifespan") return app(scope, receive, send);
      await app(
        scope,
        async () => {
          const message = await receive();
          if (message.type === `lifespan.${event}`) await send({ type: `lifespan.${event}.complete` });
          return message;
        },
        async (message) => {
          if (!message.type.startsWith(`lifespan.${event}.`)) await send(message);
        },
      );
    };
}

/** Gives the state itself to scopes of one type, in place of a copy. */
function sharing(type: Scope["type"]) {
  return (app: ASGIApp): ASGIApp => {
    let state: Record<string, unknown> = {};
    return (scope, receive, send) => {
      if (scope.type === "lifespan") state = scope.state ?? state;
      return app(scope.type === type ? { ...scope, state } : scope, receive, send);
    };
  };
}

/** Does not start an application that throws: before it has received anything, or behind. */
function refusing(hasReceivedFirst: boolean) {
  return (app: ASGIApp): ASGIApp =>
    async (scope, receive, send) => {
      let hasReceived = false;
      const noting = async (): Promise<ReceiveMessage> => {
        const message = await receive();
        hasReceived = true;
        return message;
      };
      try {
        await app(scope, scope.type === "lifespan" ? noting : receive, send);
      } catch (error) {
        if (scope.type !== "lifespan" || hasReceived !== hasReceivedFirst) throw error;
        await send({ type: "lifespan.startup.failed", message: String(error) });
      }
    };
}

const onLifespans: readonly BrokenServer[] = [
  { what: "no version", breaks: ["lifespan.scope"], wrap: scopes("lifespan", () => ({ asgi: {} })) },
  {
    what: "another name of the shutdown",
    breaks: ["lifespan.messages"],
    wrap: received("lifespan", (message) =>
      message.type === "lifespan.shutdown" ? { type: "lifespan.stop" } : message,
    ),
  },
  {
    what: "a start that does not wait",
    breaks: ["lifespan.startup.waits", "lifespan.startup.failed"],
    wrap: answering("startup"),
  },
  {
    what: "a start that failed taken for one that did not",
    breaks: ["lifespan.startup.failed"],
    wrap: sent(
      "lifespan",
      each((message) => (message.type === "lifespan.startup.failed" ? { type: "lifespan.startup.complete" } : message)),
    ),
  },
  { what: "one state for all requests", breaks: ["lifespan.state"], wrap: sharing("http") },
  { what: "one state for all WebSockets", breaks: ["lifespan.state-of-websockets"], wrap: sharing("websocket") },
  { what: "no start without a lifespan", breaks: ["lifespan.unsupported"], wrap: refusing(false) },
  { what: "no start behind an error", breaks: ["lifespan.unsupported-startup"], wrap: refusing(true) },
  { what: "an end that does not wait", breaks: ["lifespan.shutdown.waits"], wrap: answering("shutdown") },
  {
    what: "no end behind a shutdown that failed",
    breaks: ["lifespan.shutdown.failed"],
    wrap: sent("lifespan", () => async (message, next) => {
      if (message.type === "lifespan.shutdown.failed") await new Promise(() => {});
      await next(message);
    }),
  },
];

export const brokenServers: readonly BrokenServer[] = [
  ...onHTTPScopes,
  ...onHTTPRequests,
  ...onHTTPResponses,
  ...onWebSocketScopes,
  ...onHandshakes,
  ...onMessages,
  ...onEnds,
  ...onLifespans,
];
