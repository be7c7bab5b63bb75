/** The statements about applications and requests. @module */
import type { HeaderPair, Scope, SendMessage } from "tsgi";
import { ApplicationCall, get, httpScope, post } from "./application-call.js";
import type { ApplicationFeature, ApplicationSubject } from "./application-subject.js";
import { bytesOf, toText } from "./bytes.js";
import { inTime, must, mustEqual, mustThrow, type Statement, toStatements } from "./statement.js";

type Subject = ApplicationSubject;

/** A check of the messages of a response to GET. */
function sentFor(look: (sent: readonly SendMessage[]) => void) {
  return async (subject: Subject): Promise<void> => look((await get(subject)).sent);
}

function mustBeInOrder(sent: readonly SendMessage[]): void {
  const types = sent.map((message) => message.type);
  must(types.length > 1, `Expected a start and a body, not ${types.join(", ") || "nothing"}.`);
  for (const [index, message] of sent.entries()) {
    mustEqual(message.type, index === 0 ? "http.response.start" : "http.response.body", "the message");
    if (message.type !== "http.response.body") continue;
    const isLast = index === sent.length - 1;
    must(message.more_body === true || isLast, "Expected no message after the last body.");
    must(message.more_body !== true || !isLast, "Expected a last body, without more_body: true.");
  }
}

function mustHaveBytes(sent: readonly SendMessage[]): void {
  for (const message of sent) {
    if (message.type !== "http.response.body" || message.body === undefined) continue;
    must(message.body instanceof Uint8Array, "Expected the body to be bytes.");
  }
}

/** The headers of the start. @throws ConformanceError unless they are pairs of bytes. */
function headersOf(sent: readonly SendMessage[]): readonly HeaderPair[] {
  for (const message of sent) {
    if (message.type === "http.response.start") return pairsOf(message.headers);
  }
  return [];
}

/** @throws ConformanceError unless the headers are pairs of bytes. */
export function pairsOf(headers: Iterable<HeaderPair> | undefined): readonly HeaderPair[] {
  const pairs = Array.from(headers ?? []);
  for (const [name, value, ...more] of pairs as Iterable<readonly unknown[]>) {
    const isPair = name instanceof Uint8Array && value instanceof Uint8Array && more.length === 0;
    must(isPair, "Expected each header to be a name and a value, both bytes.");
  }
  return pairs;
}

/** @throws ConformanceError unless the names are in lower case, without pseudo headers. */
export function mustBeNames(headers: readonly HeaderPair[]): void {
  for (const [name] of toText(headers)) {
    mustEqual(name, name.toLowerCase(), "the name of a header");
    must(!name.startsWith(":"), `Expected no pseudo header, not ${name}.`);
  }
}

/** Runs a call, and sees that the scope is as it was. */
export async function mustLeaveScope(scope: Scope, run: () => Promise<unknown>): Promise<void> {
  const before = Object.entries(scope);
  await run();
  const after = new Map(Object.entries(scope));
  for (const [name, value] of before) must(after.get(name) === value, `Expected scope.${name} to stay as it was.`);
}

async function checkUnknownScope(subject: Subject): Promise<void> {
  // A type that no application knows.
  const scope = { type: "conformance.unknown", asgi: { version: "3.0" } } as unknown as Scope;
  const call = new ApplicationCall(subject, scope, []);
  call.end();
  await mustThrow(() => call.finished(), "an application for a scope of an unknown type");
}

async function checkMinimalScope(subject: Subject): Promise<void> {
  const { status } = await get(subject);
  const { type, asgi, http_version, method, path, query_string, headers } = httpScope(subject.get ?? "/");
  const scope = { type, asgi, http_version, method, path, query_string, headers } as Scope;
  const call = new ApplicationCall(subject, scope, [{ type: "http.request" }]);
  await call.finished();
  mustEqual(call.status, status, "the status without the keys that are optional");
}

async function checkExtraKeys(subject: Subject): Promise<void> {
  const { status } = await get(subject);
  const scope = { ...httpScope(subject.get ?? "/"), "x.unknown": 1, extensions: { "x.unknown": {} } };
  const call = new ApplicationCall(subject, scope, [{ type: "http.request", "x.unknown": 1 }]);
  await call.finished();
  mustEqual(call.status, status, "the status with keys that are unknown");
}

async function checkIterable(subject: Subject): Promise<void> {
  const { status } = await get(subject);
  const headers = new Set(httpScope("/").headers);
  mustEqual((await get(subject, { headers })).status, status, "the status with a Set of headers");
}

const parts = (...texts: readonly string[]): object[] =>
  texts.map((text, index) => ({
    type: "http.request",
    body: bytesOf(text),
    more_body: index < texts.length - 1,
  }));

async function checkBody(subject: Subject): Promise<void> {
  const { body } = await post(subject, parts("one,", "two,", "three"));
  mustEqual(body, "one,two,three", "the body");
}

async function checkOptionalKeys(subject: Subject): Promise<void> {
  const { body } = await post(subject, [
    { type: "http.request", more_body: true },
    { type: "http.request", body: bytesOf("only") },
  ]);
  mustEqual(body, "only", "the body");
}

async function checkDisconnect(subject: Subject): Promise<void> {
  const scope = httpScope(subject.echo ?? "/", "POST");
  const call = new ApplicationCall(subject, scope, [{ type: "http.request", body: bytesOf("half"), more_body: true }]);
  call.end();
  await inTime(call.settled, "the application to end behind http.disconnect");
  const last = call.sent.at(-1);
  const isWhole = last?.type === "http.response.body" && last.more_body !== true && call.body === "half";
  must(!isWhole, "Expected half a body not to be taken for a whole one.");
}

async function checkFailingSend(subject: Subject): Promise<void> {
  const gone = new Error("The client has disconnected, as part of a conformance check.");
  const call = new ApplicationCall(subject, httpScope(subject.get ?? "/"), [{ type: "http.request" }], gone);
  call.end();
  await inTime(call.settled, "the application to end when send throws");
}

async function checkInvalidMessage(subject: Subject): Promise<void> {
  const call = new ApplicationCall(subject, httpScope(subject.echo ?? "/", "POST"), [
    { type: "http.unknown" },
    ...parts("ok"),
  ]);
  call.end();
  const outcome = await inTime(call.settled, "the application to end");
  must(outcome !== "returned" || Number(call.status) >= 500, "Expected an error, or an error response.");
}

async function checkScope(subject: Subject): Promise<void> {
  const scope = httpScope(subject.get ?? "/");
  await mustLeaveScope(scope, () => new ApplicationCall(subject, scope, [{ type: "http.request" }]).finished());
}

const RESPONSE = "www#response-start-send-event";
const SCOPE = "www#http-connection-scope";
const REQUEST = "www#request-receive-event";

export const httpApplicationStatements: readonly Statement<Subject, ApplicationFeature>[] = toStatements(
  "http",
  [],
  [
    [
      "scope.unknown-type",
      "should",
      "main#protocol-specifications",
      "The application throws for a scope of an unknown type.",
      checkUnknownScope,
    ],
    [
      "http.scope.untouched",
      "should",
      "main#middleware",
      "The application changes no key of the server's scope. It may add its own.",
      checkScope,
    ],
    [
      "http.scope.optional-keys",
      "must",
      SCOPE,
      "The response is the same if the optional keys of the scope are missing.",
      checkMinimalScope,
    ],
    [
      "http.scope.extra-keys",
      "must",
      "main#error-handling",
      "Unknown keys of scope and messages are ignored.",
      checkExtraKeys,
    ],
    ["http.scope.headers-iterable", "must", SCOPE, "`headers` may be any iterable.", checkIterable],
    [
      "http.response.order",
      "must",
      RESPONSE,
      "A response is one start, then bodies; only the last one has no `more_body`.",
      sentFor(mustBeInOrder),
    ],
    [
      "http.response.status",
      "must",
      RESPONSE,
      "`status` is a whole number, of three digits.",
      sentFor((sent) => {
        const start = sent.find(({ type }) => type === "http.response.start");
        const status = start?.type === "http.response.start" ? start.status : null;
        const isStatus = Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 999;
        must(isStatus, `Expected a status, not ${String(status)}.`);
      }),
    ],
    [
      "http.response.headers",
      "must",
      RESPONSE,
      "`headers` is an iterable of names and values, both bytes.",
      sentFor((sent) => void headersOf(sent)),
    ],
    [
      "http.response.header-names",
      "must",
      RESPONSE,
      "The names of headers are in lower case, and pseudo headers are not allowed.",
      sentFor((sent) => mustBeNames(headersOf(sent))),
    ],
    [
      "http.response.body",
      "must",
      "www#response-body-send-event",
      "`body` is left out, or bytes.",
      sentFor(mustHaveBytes),
    ],
    [
      "http.response.one-at-a-time",
      "should",
      "main#applications",
      "The application waits until a message is sent before it sends the next.",
      async (subject) => {
        const { overlapped } = await get(subject);
        must(!overlapped, "Expected each send to be awaited.");
      },
    ],
    [
      "http.request.body +echo",
      "must",
      REQUEST,
      "The body is the concatenation of all messages up to one without `more_body`.",
      checkBody,
    ],
    [
      "http.request.optional-keys +echo",
      "must",
      REQUEST,
      "A message without `body` is empty, and without `more_body` it is the last one.",
      checkOptionalKeys,
    ],
    [
      "http.request.unknown-type +echo",
      "should",
      "main#error-handling",
      "The application throws for a message of an unknown type, or responds with 500.",
      checkInvalidMessage,
    ],
    [
      "http.disconnect.ends +echo",
      "should",
      "www#disconnect-receive-event",
      "The application returns if the client disconnects before the end of the body.",
      checkDisconnect,
    ],
    [
      "http.disconnect.send",
      "must",
      "www#disconnected-client-send-exception",
      "The application returns if `send` throws because the client has disconnected.",
      checkFailingSend,
    ],
  ],
);
