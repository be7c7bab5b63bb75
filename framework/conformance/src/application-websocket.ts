/** The statements about applications and WebSockets. @module */
import type { SendMessage, WebSocketAcceptMessage } from "tsgi";
import { ApplicationCall, connect, webSocketScope } from "./application-call.js";
import { mustBeNames, mustLeaveScope, pairsOf } from "./application-http.js";
import type { ApplicationFeature, ApplicationSubject } from "./application-subject.js";
import { bytesOf, toText } from "./bytes.js";
import { inTime, must, mustEqual, type Statement, toStatements } from "./statement.js";
import { mustBeBytes } from "./server-http-request.js";

type Subject = ApplicationSubject;

const GOING = { type: "websocket.disconnect", code: 1001, reason: "going" } as const;

/** The application's accept. */
async function accepted(call: ApplicationCall): Promise<WebSocketAcceptMessage> {
  const message = await call.next(0);
  must(message?.type === "websocket.accept", `Expected websocket.accept, not ${message?.type ?? "the end"}.`);
  return message;
}

/** Opens a WebSocket, lets a check use it, and ends it. */
async function open<Value>(call: ApplicationCall, use: (accept: WebSocketAcceptMessage) => Promise<Value> | Value) {
  const accept = await accepted(call);
  const value = await use(accept);
  call.end(GOING);
  await call.finished();
  return value;
}

/** The message that is sent back for one of the client's. */
async function echoOf(subject: Subject, message: object): Promise<SendMessage | null> {
  const call = connect(subject);
  return open(call, () => {
    call.give({ type: "websocket.receive", ...message });
    return call.next(1);
  });
}

function mustBeText(message: SendMessage | null, text: string): void {
  must(message?.type === "websocket.send", `Expected websocket.send, not ${message?.type ?? "the end"}.`);
  mustEqual(message.text, text, "text");
  must(message.bytes === undefined || message.bytes === null, "Expected bytes to be omitted or null if there is text.");
}

function mustBeBinary(message: SendMessage | null, text: string): void {
  must(message?.type === "websocket.send", `Expected websocket.send, not ${message?.type ?? "the end"}.`);
  mustBeBytes(message.bytes, text, "bytes");
  must(message.text === undefined || message.text === null, "Expected text to be omitted or null if there are bytes.");
}

async function checkConnect(subject: Subject): Promise<void> {
  const call = connect(subject);
  await open(call, () => {});
  mustEqual(call.early, 0, "the number of messages before websocket.connect is received");
}

async function checkAccept(subject: Subject): Promise<void> {
  const offered = ["first", "second"];
  const call = connect(subject, webSocketScope(subject.websocket ?? "/", offered));
  await open(call, ({ subprotocol = null, headers }) => {
    must(subprotocol === null || offered.includes(subprotocol), `Expected an offer, not ${String(subprotocol)}.`);
    const pairs = pairsOf(headers);
    mustBeNames(pairs);
    const names = toText(pairs).map(([name]) => name);
    must(!names.includes("sec-websocket-protocol"), "Expected subprotocol in place of sec-websocket-protocol.");
  });
}

async function checkText(subject: Subject): Promise<void> {
  mustBeText(await echoOf(subject, { text: "é" }), "é");
  mustBeText(await echoOf(subject, { text: "é", bytes: null }), "é");
}

async function checkBytes(subject: Subject): Promise<void> {
  mustBeBinary(await echoOf(subject, { bytes: bytesOf("b") }), "b");
  mustBeBinary(await echoOf(subject, { bytes: bytesOf("b"), text: null }), "b");
}

async function checkDisconnect(subject: Subject): Promise<void> {
  const call = connect(subject);
  await open(call, () => {});
  mustEqual(
    call.sent.filter(({ type }) => type === "websocket.send"),
    [],
    "the messages behind websocket.disconnect",
  );
}

async function checkOptionalKeys(subject: Subject): Promise<void> {
  const call = connect(subject);
  await accepted(call);
  call.end({ type: "websocket.disconnect" });
  await call.finished();
}

async function checkMinimalScope(subject: Subject): Promise<void> {
  const { type, asgi, path, headers } = webSocketScope(subject.websocket ?? "/");
  await open(connect(subject, { type, ...(asgi && { asgi }), path, ...(headers && { headers }) }), () => {});
}

async function checkScope(subject: Subject): Promise<void> {
  const scope = webSocketScope(subject.websocket ?? "/");
  await mustLeaveScope(scope, () => open(connect(subject, scope), () => {}));
}

async function checkEarlyDisconnect(subject: Subject): Promise<void> {
  const call = new ApplicationCall(subject, webSocketScope(subject.websocket ?? "/"), []);
  call.end(GOING);
  await inTime(call.settled, "the application to end");
}

export const webSocketApplicationStatements: readonly Statement<Subject, ApplicationFeature>[] = toStatements(
  "websocket",
  ["websocket"],
  [
    [
      "websocket.scope.untouched",
      "should",
      "main#middleware",
      "The application changes no key of the server's scope. It may add its own.",
      checkScope,
    ],
    [
      "websocket.scope.optional-keys",
      "must",
      "www#websocket-connection-scope",
      "The WebSocket is accepted where the scope is without its optional keys.",
      checkMinimalScope,
    ],
    [
      "websocket.connect",
      "must",
      "www#connect-receive-event",
      "The application receives `websocket.connect` before it responds.",
      checkConnect,
    ],
    [
      "websocket.accept",
      "must",
      "www#accept-send-event",
      "The subprotocol of the accept is one of the offered ones, and is not in `headers`.",
      checkAccept,
    ],
    [
      "websocket.text",
      "must",
      "www#receive-receive-event",
      "Text is read from `text`, with `bytes` left out or `null`, and sent in the same way.",
      checkText,
    ],
    [
      "websocket.bytes",
      "must",
      "www#receive-receive-event",
      "Bytes are read from `bytes`, with `text` left out or `null`, and sent in the same way.",
      checkBytes,
    ],
    [
      "websocket.disconnect.ends",
      "must",
      "www#disconnect-receive-event-ws",
      "The application returns if the client disconnects, and sends no more messages.",
      checkDisconnect,
    ],
    [
      "websocket.disconnect.optional-keys",
      "must",
      "www#disconnect-receive-event-ws",
      "A disconnect may be without `reason`, and without `code`.",
      checkOptionalKeys,
    ],
    [
      "websocket.disconnect.early",
      "should",
      "www#disconnect-receive-event-ws",
      "The application returns if the client disconnects before it is accepted.",
      checkEarlyDisconnect,
    ],
  ],
);
