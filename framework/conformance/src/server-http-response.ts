/** The statements about servers and responses. @module */
import { Deferred } from "tsgi/internals";
import type { HTTPScope, Send, SendMessage } from "tsgi";
import { bytesOf, textOf, toPairs, valuesOf } from "./bytes.js";
import { type ServerFeature, type StartServer, withServer } from "./client.js";
import {
  application,
  type Call,
  exchange,
  fetchWhole,
  keepFirst,
  respond,
  sendAnything,
  type WholeResponse,
} from "./server-calls.js";
import {
  isResolvedInTime,
  must,
  mustEqual,
  mustThrow,
  type Statement,
  throwsInTime,
  toStatements,
} from "./statement.js";

const END: SendMessage = { type: "http.response.body", body: bytesOf("") };
const START: SendMessage = { type: "http.response.start", status: 200, headers: [] };

/** A check of the response to these messages. */
function responseOf(messages: readonly object[], look: (response: WholeResponse) => void) {
  return async (start: StartServer): Promise<void> => {
    const [, response] = await exchange(start, {}, async ({ send }) => {
      for (const message of messages) await sendAnything(send, message);
    });
    look(response);
  };
}

/**
 * A check that `send` throws for the last of these messages. The specification does not define the client's view then.
 */
function refusalOf(...messages: readonly object[]) {
  return (start: StartServer): Promise<void> => {
    const last = messages.at(-1) as object;
    return checkRefusal(start, messages.slice(0, -1), async (send) => sendAnything(send, last), last);
  };
}

/** The same for a start: it may wait for the first part of the body, and so may the error. */
function refusalOfStart(...messages: readonly object[]) {
  return (start: StartServer): Promise<void> => {
    const last = messages.at(-1) as object;
    const sendBoth = async (send: Send): Promise<void> => {
      await sendAnything(send, last);
      await send({ type: "http.response.body" });
    };
    return checkRefusal(start, messages.slice(0, -1), sendBoth, last);
  };
}

async function checkRefusal(
  start: StartServer,
  before: readonly object[],
  act: (send: Send) => Promise<void>,
  message: object,
): Promise<void> {
  const { run, value } = keepFirst(async ({ send }: Call<HTTPScope>) => {
    for (const earlier of before) await sendAnything(send, earlier);
    await mustThrow(() => act(send), `send for ${JSON.stringify(message)}`);
    await respond(send).catch(() => {}); // the response may have begun, or failed with the message
  });
  await withServer(start, application({ http: run }), async (server) => {
    await Promise.allSettled([fetchWhole(server)]);
    await value;
  });
}

async function checkFlush(start: StartServer): Promise<void> {
  const seen = new Deferred<void>();
  let wasSeen = false;
  const http = async ({ send }: Call<HTTPScope>): Promise<void> => {
    await send(START);
    await send({ type: "http.response.body", body: bytesOf("first"), more_body: true });
    wasSeen = await isResolvedInTime(seen.promise);
    await send({ type: "http.response.body", body: bytesOf("last") });
  };
  await withServer(start, application({ http }), async (server) => {
    const { body } = await server.request({});
    let text = "";
    for await (const part of body) {
      text += textOf(part);
      if (text.length >= "first".length) seen.resolve();
    }
    mustEqual(text, "firstlast", "the body");
  });
  must(wasSeen, "Expected the client to get a part of the body before the application sends the next.");
}

async function checkAfterEnd(start: StartServer): Promise<void> {
  const [, { status, body }] = await exchange(start, {}, async ({ send }) => {
    await respond(send, "whole");
    await send({ type: "http.response.body", body: bytesOf("more"), more_body: true });
    await send({ type: "http.response.start", status: 500, headers: [] });
    await send({ type: "http.response.body", body: bytesOf("again") });
  });
  mustEqual([status, body], [200, "whole"], "the response");
}

async function checkDisconnectAfterEnd(start: StartServer): Promise<void> {
  const [type] = await exchange(start, {}, async ({ receive, send }) => {
    await receive();
    await respond(send);
    return (await receive()).type;
  });
  mustEqual(type, "http.disconnect", "the message after the response");
}

/** Disconnects the client in the middle of a response, and returns the messages of the application. */
async function leave<Value>(start: StartServer, then: (call: Call<HTTPScope>) => Promise<Value>): Promise<Value> {
  const client = new AbortController();
  const value = new Deferred<Value>();
  const http = async (call: Call<HTTPScope>): Promise<void> => {
    await call.receive();
    await call.send(START);
    await call.send({ type: "http.response.body", body: bytesOf("part"), more_body: true });
    await then(call).then(value.resolve, value.reject);
  };
  return withServer(start, application({ http }), async (server) => {
    const { body } = await server.request({ signal: client.signal });
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    client.abort();
    const left = await value.promise;
    await iterator.next().catch(() => {}); // the client has cut it
    return left;
  });
}

async function checkSendAfterLeave(start: StartServer): Promise<void> {
  // The end of a connection over TCP is certain only once something was sent into it.
  const hasThrown = await leave(start, async ({ receive, send }) => {
    await receive();
    return throwsInTime(() => send({ type: "http.response.body", body: bytesOf("lost"), more_body: true }));
  });
  must(hasThrown, "Expected an error of send behind http.disconnect.");
}

/** The first application throws, the second request is served. */
async function checkThrow(start: StartServer, messages: readonly SendMessage[], look: (failed: unknown) => void) {
  let calls = 0;
  const http = async ({ send }: Call<HTTPScope>): Promise<void> => {
    if (++calls > 1) return respond(send);
    for (const message of messages) await send(message);
    throw new Error("An error that a check of conformance throws on purpose.");
  };
  await withServer(start, application({ http }), async (server) => {
    const outcome = await fetchWhole(server).then(
      ({ status }) => status,
      () => null,
    );
    look(outcome);
    mustEqual((await fetchWhole(server)).status, 200, "the status of the next request");
  });
}

async function checkExtraKeys(start: StartServer): Promise<void> {
  const extra = { "x.unknown": 1 };
  await responseOf(
    [
      { ...START, ...extra },
      { type: "http.response.body", body: bytesOf("ok"), ...extra },
    ],
    ({ body }) => mustEqual(body, "ok", "the body"),
  )(start);
}

const RESPONSE = "www#response-start-send-event";
const BODY = "www#response-body-send-event";
const ERRORS = "main#error-handling";
const DISCONNECT = "www#disconnect-receive-event";

export const httpResponseStatements: readonly Statement<StartServer, ServerFeature>[] = toStatements(
  "http",
  [],
  [
    [
      "http.response.status",
      "must",
      RESPONSE,
      "The client gets the status of `http.response.start`.",
      responseOf([{ ...START, status: 418 }, END], ({ status }) => mustEqual(status, 418, "the status")),
    ],
    [
      "http.response.headers",
      "must",
      RESPONSE,
      "The client gets the headers, repeated ones in their order.",
      responseOf(
        [
          {
            ...START,
            headers: toPairs([
              ["set-cookie", "a=1"],
              ["x-test", "a b"],
              ["set-cookie", "b=2"],
            ]),
          },
          END,
        ],
        ({ headers }) => {
          mustEqual(valuesOf(headers, "x-test"), ["a b"], "the header x-test");
          mustEqual(valuesOf(headers, "set-cookie"), ["a=1", "b=2"], "the headers set-cookie");
        },
      ),
    ],
    [
      "http.response.headers-iterable",
      "must",
      RESPONSE,
      "`headers` may be any iterable.",
      responseOf([{ ...START, headers: new Set(toPairs([["x-test", "a"]])) }, END], (response) =>
        mustEqual(valuesOf(response.headers, "x-test"), ["a"], "the header x-test"),
      ),
    ],
    [
      "http.response.headers-optional",
      "must",
      RESPONSE,
      "A start without `headers` sends no headers.",
      responseOf(
        [
          { type: "http.response.start", status: 200 },
          { type: "http.response.body", body: bytesOf("ok") },
        ],
        ({ status, body }) => mustEqual([status, body], [200, "ok"], "the response"),
      ),
    ],
    [
      "http.response.transfer-encoding",
      "must",
      RESPONSE,
      "A `Transfer-Encoding` of the application is ignored.",
      responseOf(
        [
          { ...START, headers: toPairs([["transfer-encoding", "chunked"]]) },
          { type: "http.response.body", body: bytesOf("2\r\nok\r\n0\r\n\r\n") },
        ],
        ({ body }) => mustEqual(body, "2\r\nok\r\n0\r\n\r\n", "the body"),
      ),
    ],
    [
      "http.response.body",
      "must",
      BODY,
      "The body is the concatenation of all messages.",
      responseOf(
        [
          START,
          { type: "http.response.body", body: bytesOf("one,"), more_body: true },
          { type: "http.response.body", body: bytesOf(""), more_body: true },
          { type: "http.response.body", body: bytesOf("two,"), more_body: true },
          { type: "http.response.body", body: bytesOf("three"), more_body: false },
        ],
        ({ body }) => mustEqual(body, "one,two,three", "the body"),
      ),
    ],
    [
      "http.response.body-optional",
      "must",
      BODY,
      "A message without `body` is empty, and without `more_body` it is the last one.",
      async (start) => {
        const last = { type: "http.response.body" };
        const part = { type: "http.response.body", body: bytesOf("part"), more_body: true };
        await responseOf([START, last], ({ body }) => mustEqual(body, "", "the body"))(start);
        await responseOf([START, part, last], ({ body }) => mustEqual(body, "part", "the body"))(start);
      },
    ],
    [
      "http.response.flush",
      "must",
      BODY,
      "The client gets a part before the application sends the next one.",
      checkFlush,
    ],
    [
      "http.response.after-end",
      "must",
      BODY,
      "Messages after the last body are ignored: `send` does not throw.",
      checkAfterEnd,
    ],
    [
      "http.response.start-first",
      "should",
      RESPONSE,
      "`send` throws for a body before the start.",
      refusalOf({ type: "http.response.body", body: bytesOf("early"), more_body: true }),
    ],
    ["http.response.start-once", "should", RESPONSE, "`send` throws for a second start.", refusalOfStart(START, START)],
    [
      "http.send.unknown-type",
      "should",
      ERRORS,
      "`send` throws for a message of an unknown type.",
      refusalOf({ type: "http.unknown" }),
    ],
    [
      "http.send.missing-key",
      "should",
      ERRORS,
      "`send` throws for a start without a status.",
      refusalOfStart({ type: "http.response.start" }),
    ],
    [
      "http.send.text-header",
      "should",
      ERRORS,
      "`send` throws for headers that are text.",
      refusalOfStart({ ...START, headers: [["x-test", "text"]] }),
    ],
    [
      "http.send.text-body",
      "should",
      ERRORS,
      "`send` throws for a body that is text.",
      refusalOf(START, { type: "http.response.body", body: "text", more_body: true }),
    ],
    ["http.send.extra-keys", "must", ERRORS, "Additional keys of a message are ignored.", checkExtraKeys],
    [
      "http.disconnect.after-end",
      "must",
      DISCONNECT,
      "`receive` returns `http.disconnect` after the response is sent.",
      checkDisconnectAfterEnd,
    ],
    [
      "http.disconnect.client +disconnect",
      "must",
      DISCONNECT,
      "`receive` returns `http.disconnect` when the client disconnects.",
      async (start) => {
        const { type } = await leave(start, ({ receive }) => receive());
        mustEqual(type, "http.disconnect", "the message");
      },
    ],
    [
      "http.disconnect.send +disconnect",
      "should",
      "www#disconnected-client-send-exception",
      "`send` throws after the client has disconnected.",
      checkSendAfterLeave,
    ],
    [
      "http.error.before-response",
      "must",
      ERRORS,
      "An error of the application ends the request, and the server continues.",
      (start) =>
        checkThrow(start, [], (status) =>
          must(status === null || status === 500, `Expected 500, not ${String(status)}.`),
        ),
    ],
    [
      "http.error.in-response",
      "must",
      ERRORS,
      "A response in the middle of which the application throws is not taken for a whole one.",
      (start) =>
        checkThrow(start, [START, { type: "http.response.body", body: bytesOf("half"), more_body: true }], (status) =>
          must(status !== 200, "Expected the client to see that the response is not whole."),
        ),
    ],
  ],
);
