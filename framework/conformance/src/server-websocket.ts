/** The statements about servers and WebSockets. @module */
import { Deferred } from "tsgi/internals";
import type { ReceiveMessage, WebSocketCloseMessage, WebSocketScope } from "tsgi";
import { bytesOf, textOf, toPairs, toText, valuesOf } from "./bytes.js";
import {
  type ClientClose,
  type ClientHandshake,
  type ClientWebSocket,
  type ServerFeature,
  type StartServer,
  withServer,
} from "./client.js";
import {
  application,
  type Call,
  connectWith,
  converse,
  fetchWhole,
  handshake,
  opened,
  sendAnything,
} from "./server-calls.js";
import { mustBeAddress, mustBeBytes, mustBePairs, mustHaveVersion, targetRows } from "./server-http-request.js";
import { must, mustEqual, mustThrow, type Statement, toStatements } from "./statement.js";

const ACCEPT = { type: "websocket.accept" } as const;

/** A check of the scope of one handshake, which is accepted then. */
function scopeOf(request: ClientHandshake, look: (scope: WebSocketScope) => void) {
  return async (start: StartServer): Promise<void> => {
    const handle = async ({ scope, receive, send }: Call<WebSocketScope>): Promise<void> => {
      look(scope);
      await receive();
      await send(ACCEPT);
    };
    await connectWith(start, request, handle, async () => {});
  };
}

/** A check of the message that the application receives after an action of the client. */
function messageFor(act: (webSocket: ClientWebSocket) => Promise<void>, look: (message: ReceiveMessage) => void) {
  return async (start: StartServer): Promise<void> => {
    const answered = new Deferred<void>();
    const handle = async ({ receive }: Call<WebSocketScope>): Promise<ReceiveMessage> => {
      const message = await receive();
      answered.resolve();
      return message;
    };
    const [message] = await converse(start, handle, async (webSocket) => {
      await act(webSocket);
      await answered.promise;
    });
    look(message);
  };
}

function isText(expected: string) {
  return (message: ReceiveMessage): void => {
    must(message.type === "websocket.receive", `Expected websocket.receive, not ${message.type}.`);
    mustEqual(message.text, expected, "the text");
    must(
      message.bytes === undefined || message.bytes === null,
      "Expected bytes to be omitted or null if there is text.",
    );
  };
}

function isBytes(expected: string) {
  return (message: ReceiveMessage): void => {
    must(message.type === "websocket.receive", `Expected websocket.receive, not ${message.type}.`);
    mustBeBytes(message.bytes, expected, "bytes");
    must(
      message.text === undefined || message.text === null,
      "Expected text to be omitted or null if there are bytes.",
    );
  };
}

function isDisconnect(code: number | null, reason: string | null) {
  return (message: ReceiveMessage): void => {
    must(message.type === "websocket.disconnect", `Expected websocket.disconnect, not ${message.type}.`);
    if (code !== null) mustEqual(message.code, code, "the code");
    if (reason !== null) mustEqual(message.reason ?? "", reason, "the reason");
  };
}

/** A check of the message that the client gets for one of the application's. */
function sent(message: object, expected: string | Uint8Array) {
  return async (start: StartServer): Promise<void> => {
    const handle = ({ send }: Call<WebSocketScope>): Promise<void> => sendAnything(send, message);
    const [, data] = await converse(start, handle, (webSocket) => webSocket.receive());
    if (typeof expected === "string") mustEqual(data, expected, "the message");
    else mustBeBytes(data, textOf(expected), "the message");
  };
}

/** A check that `send` throws for a message, on a WebSocket that is accepted. */
function refusalOf(message: object) {
  return async (start: StartServer): Promise<void> => {
    const handle = ({ send }: Call<WebSocketScope>): Promise<void> =>
      mustThrow(() => sendAnything(send, message), `send for ${JSON.stringify(message)}`);
    await converse(start, handle, async () => {});
  };
}

/** A check of the end of a WebSocket, as the client sees it. */
function endOf(handle: (call: Call<WebSocketScope>) => Promise<void>, look: (end: ClientClose) => void) {
  return async (start: StartServer): Promise<void> => {
    const accepting = async (call: Call<WebSocketScope>): Promise<void> => {
      await call.receive();
      await call.send(ACCEPT);
      await handle(call);
    };
    const app = application({ websocket: accepting });
    look(await withServer(start, app, async (server) => opened(await handshake(server, {})).closed));
  };
}

function closeWith(message: Omit<WebSocketCloseMessage, "type">, expected: ClientClose) {
  const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<void> => {
    await send({ type: "websocket.close", ...message });
    await receive();
  };
  return endOf(handle, (end) => mustEqual({ code: end.code, reason: end.reason }, expected, "the close"));
}

/** A check of the response to a handshake that the application closes. */
function refusedWith(message: Omit<WebSocketCloseMessage, "type">) {
  return async (start: StartServer): Promise<void> => {
    const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<void> => {
      await receive();
      await send({ type: "websocket.close", ...message });
    };
    const [, { status }] = await connectWith(start, {}, handle, async (answer) => answer);
    mustEqual(status, 403, "the status of the handshake");
  };
}

/** The handshake waits until the application accepts: another request goes through in the meantime. */
async function checkHandshake(start: StartServer): Promise<void> {
  const [connecting, gate] = [new Deferred<void>(), new Deferred<void>()];
  const websocket = async ({ receive, send }: Call<WebSocketScope>): Promise<void> => {
    await receive();
    connecting.resolve();
    await gate.promise;
    await send(ACCEPT);
  };
  await withServer(start, application({ websocket }), async (server) => {
    let isAnswered = false;
    const answer = handshake(server, {}).finally(() => (isAnswered = true));
    await connecting.promise;
    await fetchWhole(server);
    must(!isAnswered, "Expected the handshake to wait for the application.");
    gate.resolve();
    opened(await answer);
  });
}

async function checkConnect(start: StartServer): Promise<void> {
  const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<string> => {
    const { type } = await receive();
    await send(ACCEPT);
    return type;
  };
  const [type] = await connectWith(start, {}, handle, async () => {});
  mustEqual(type, "websocket.connect", "the first message");
}

/** A check of the response to a handshake that the application accepts. */
function acceptedWith(
  message: { subprotocol?: string | null; headers?: ReturnType<typeof toPairs> },
  look: (answer: Awaited<ReturnType<typeof handshake>>) => void,
) {
  return async (start: StartServer): Promise<void> => {
    const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<void> => {
      await receive();
      await send({ ...ACCEPT, ...message });
    };
    const [, answer] = await connectWith(start, { subprotocols: ["first", "second"] }, handle, async (got) => got);
    opened(answer);
    look(answer);
  };
}

async function checkSendBeforeAccept(start: StartServer): Promise<void> {
  const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<void> => {
    await receive();
    await mustThrow(() => send({ type: "websocket.send", text: "early" }), "send before websocket.accept");
    await send(ACCEPT);
  };
  await connectWith(start, {}, handle, async () => {});
}

async function checkSendAfterDisconnect(start: StartServer): Promise<void> {
  const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<void> => {
    while ((await receive()).type !== "websocket.disconnect");
    await mustThrow(() => send({ type: "websocket.send", text: "lost" }), "send behind websocket.disconnect");
  };
  await converse(start, handle, (webSocket) => webSocket.close(1000));
}

async function checkDisconnectAfterClose(start: StartServer): Promise<void> {
  const handle = async ({ receive, send }: Call<WebSocketScope>): Promise<string> => {
    await send({ type: "websocket.close" });
    return (await receive()).type;
  };
  const [type] = await converse(start, handle, (webSocket) => webSocket.closed);
  mustEqual(type, "websocket.disconnect", "the message behind the close");
}

async function checkPing(start: StartServer): Promise<void> {
  const gone = new Deferred<void>();
  const [, pong] = await converse(
    start,
    () => gone.promise,
    async (webSocket) => {
      const payload = await webSocket.ping?.("are you there");
      gone.resolve();
      return payload;
    },
  );
  mustEqual(pong, "are you there", "the payload of the pong");
}

const SCOPE = "www#websocket-connection-scope";
const CONNECT = "www#connect-receive-event";
const ACCEPTING = "www#accept-send-event";
const RECEIVE = "www#receive-receive-event";
const SEND = "www#send-send-event";
const DISCONNECT = "www#disconnect-receive-event-ws";
const CLOSE = "www#close-send-event";
const ERRORS = "main#error-handling";

const scopeStatements = toStatements<StartServer, ServerFeature>(
  "websocket",
  ["websocket"],
  [
    [
      "websocket.scope.asgi-version",
      "must",
      "main#applications",
      "`asgi.version` of the scope is text.",
      scopeOf({}, mustHaveVersion),
    ],
    [
      "websocket.scope.http-version",
      "must",
      SCOPE,
      '`http_version` is left out, or `"1.1"` or `"2"`.',
      scopeOf({}, ({ http_version: version = "1.1" }) =>
        must(["1.1", "2"].includes(version), `Expected "1.1" or "2", not ${version}.`),
      ),
    ],
    [
      "websocket.scope.scheme",
      "must",
      SCOPE,
      "`scheme` is left out, or text that is not empty.",
      scopeOf({}, ({ scheme = "ws" }) =>
        must(scheme === "ws" || scheme === "wss", "Expected the scheme of a WebSocket."),
      ),
    ],
    ...targetRows("websocket", SCOPE, scopeOf),
    [
      "websocket.scope.headers",
      "must",
      SCOPE,
      "`headers` is an iterable of names and values, both bytes.",
      scopeOf({ headers: [["x-test", "a b"]] }, (scope) => {
        mustBePairs(scope);
        mustEqual(valuesOf(toText(scope.headers), "x-test"), ["a b"], "the header x-test");
      }),
    ],
    [
      "websocket.scope.addresses",
      "must",
      SCOPE,
      "`client` and `server` are left out, or a host and a port each.",
      scopeOf({}, ({ client, server }) => {
        mustBeAddress(client, "client");
        mustBeAddress(server, "server");
      }),
    ],
    [
      "websocket.scope.subprotocols",
      "must",
      SCOPE,
      "`subprotocols` contains the values that the client offers, in their order.",
      scopeOf({ subprotocols: ["first", "second"] }, ({ subprotocols }) =>
        mustEqual(Array.from(subprotocols ?? []), ["first", "second"], "scope.subprotocols"),
      ),
    ],
    [
      "websocket.scope.no-subprotocols",
      "must",
      SCOPE,
      "`subprotocols` is omitted or empty if the client offers no values.",
      scopeOf({}, ({ subprotocols = [] }) => mustEqual(Array.from(subprotocols), [], "scope.subprotocols")),
    ],
  ],
);

const handshakeStatements = toStatements<StartServer, ServerFeature>(
  "websocket",
  ["websocket"],
  [
    ["websocket.connect.first", "must", CONNECT, "The first message is `websocket.connect`.", checkConnect],
    [
      "websocket.connect.waits",
      "must",
      CONNECT,
      "The handshake is not completed before the application has accepted it.",
      checkHandshake,
    ],
    [
      "websocket.accept.subprotocol",
      "must",
      ACCEPTING,
      "The client gets the subprotocol of `websocket.accept`.",
      acceptedWith({ subprotocol: "second" }, ({ webSocket }) =>
        mustEqual(webSocket?.subprotocol, "second", "the subprotocol"),
      ),
    ],
    [
      "websocket.accept.no-subprotocol",
      "must",
      ACCEPTING,
      "`subprotocol` can be `null`, and no subprotocol is selected.",
      acceptedWith({ subprotocol: null }, ({ webSocket }) =>
        mustEqual(webSocket?.subprotocol, null, "the subprotocol"),
      ),
    ],
    [
      "websocket.accept.headers",
      "must",
      ACCEPTING,
      "The client gets the headers of `websocket.accept` in their order.",
      acceptedWith(
        {
          headers: toPairs([
            ["x-test", "1"],
            ["x-test", "2"],
          ]),
        },
        ({ headers }) => mustEqual(valuesOf(headers, "x-test").join(", "), "1, 2", "the headers x-test"),
      ),
    ],
    ["websocket.close.before-accept", "must", CLOSE, "A close before the accept results in 403.", refusedWith({})],
    [
      "websocket.close.before-accept-with-code",
      "must",
      CLOSE,
      "A close before the accept results in 403 for any code.",
      refusedWith({ code: 4004, reason: "No route" }),
    ],
  ],
);

const messageStatements = toStatements<StartServer, ServerFeature>(
  "websocket",
  ["websocket"],
  [
    [
      "websocket.receive.text",
      "must",
      RECEIVE,
      "A message of text is `text`, and not `bytes`.",
      messageFor((webSocket) => webSocket.send("text é"), isText("text é")),
    ],
    [
      "websocket.receive.bytes",
      "must",
      RECEIVE,
      "A binary message is `bytes`, and not `text`.",
      messageFor((webSocket) => webSocket.send(bytesOf("bytes")), isBytes("bytes")),
    ],
    [
      "websocket.receive.fragments +frames",
      "should",
      "www#websocket",
      "A message in fragments is given whole.",
      messageFor(async (webSocket) => webSocket.sendFragments?.("one,", "", "two,", "three"), isText("one,two,three")),
    ],
    ["websocket.ping +frames", "should", "www#websocket", "The server itself replies to a ping.", checkPing],
    [
      "websocket.send.text",
      "must",
      SEND,
      "`text` is a message of text, with `bytes` left out or `null`.",
      async (start) => {
        await sent({ type: "websocket.send", text: "é" }, "é")(start);
        await sent({ type: "websocket.send", text: "é", bytes: null }, "é")(start);
      },
    ],
    [
      "websocket.send.bytes",
      "must",
      SEND,
      "`bytes` is a binary message, with `text` left out or `null`.",
      async (start) => {
        await sent({ type: "websocket.send", bytes: bytesOf("b") }, bytesOf("b"))(start);
        await sent({ type: "websocket.send", bytes: bytesOf("b"), text: null }, bytesOf("b"))(start);
      },
    ],
    [
      "websocket.send.empty-text",
      "must",
      SEND,
      "Empty text is a message.",
      sent({ type: "websocket.send", text: "" }, ""),
    ],
    [
      "websocket.send.extra-keys",
      "must",
      ERRORS,
      "Additional keys of a message are ignored.",
      sent({ type: "websocket.send", text: "ok", "x.unknown": 1 }, "ok"),
    ],
    [
      "websocket.send.neither",
      "should",
      SEND,
      "`send` throws for a message with neither `text` nor `bytes`.",
      refusalOf({ type: "websocket.send", text: null, bytes: null }),
    ],
    [
      "websocket.send.both",
      "should",
      SEND,
      "`send` throws for a message with both `text` and `bytes`.",
      refusalOf({ type: "websocket.send", text: "text", bytes: bytesOf("bytes") }),
    ],
    [
      "websocket.send.unknown-type",
      "should",
      ERRORS,
      "`send` throws for a message of an unknown type.",
      refusalOf({ type: "websocket.unknown" }),
    ],
    [
      "websocket.send.before-accept",
      "should",
      CONNECT,
      "`send` throws for a message before the accept.",
      checkSendBeforeAccept,
    ],
  ],
);

const endStatements = toStatements<StartServer, ServerFeature>(
  "websocket",
  ["websocket"],
  [
    [
      "websocket.disconnect.code",
      "must",
      DISCONNECT,
      "`websocket.disconnect` has the code and the reason of the client.",
      messageFor((webSocket) => webSocket.close(4001, "bye"), isDisconnect(4001, "bye")),
    ],
    [
      "websocket.disconnect.no-code +frames",
      "should",
      DISCONNECT,
      "Without a code in the frame, `code` is 1005.",
      messageFor((webSocket) => webSocket.close(), isDisconnect(1005, "")),
    ],
    [
      "websocket.disconnect.lost",
      "must",
      DISCONNECT,
      "`receive` returns `websocket.disconnect` when the connection is lost.",
      messageFor(async (webSocket) => webSocket.terminate(), isDisconnect(null, null)),
    ],
    [
      "websocket.disconnect.send",
      "should",
      "www#disconnected-client-send-exception",
      "`send` throws after the client has disconnected.",
      checkSendAfterDisconnect,
    ],
    [
      "websocket.disconnect.after-close",
      "must",
      DISCONNECT,
      "`receive` returns `websocket.disconnect` after the application has closed.",
      checkDisconnectAfterClose,
    ],
    [
      "websocket.close.code",
      "must",
      CLOSE,
      "The client gets the code and the reason of `websocket.close`.",
      closeWith({ code: 4001, reason: "bye" }, { code: 4001, reason: "bye" }),
    ],
    [
      "websocket.close.default",
      "must",
      CLOSE,
      "Without a code it is 1000, without a reason that is empty.",
      closeWith({}, { code: 1000, reason: "" }),
    ],
    [
      "websocket.close.null-reason",
      "must",
      CLOSE,
      "`reason: null` is an empty reason.",
      closeWith({ code: 4001, reason: null }, { code: 4001, reason: "" }),
    ],
    [
      "websocket.return",
      "should",
      "www#websocket-connection-scope",
      "The WebSocket is closed when the application returns.",
      endOf(
        async () => {},
        () => {},
      ),
    ],
    [
      "websocket.error",
      "must",
      ERRORS,
      "An error of the application closes the WebSocket.",
      endOf(
        () => Promise.reject(new Error("An error that a check of conformance throws on purpose.")),
        ({ code }) => must(code !== 1000, "Expected another code than 1000, which says that all went well."),
      ),
    ],
  ],
);

export const webSocketServerStatements: readonly Statement<StartServer, ServerFeature>[] = [
  ...scopeStatements,
  ...handshakeStatements,
  ...messageStatements,
  ...endStatements,
];
