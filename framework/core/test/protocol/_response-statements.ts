/** The statements about responses: the phases, the head, the body, and applications that fail. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import type { SendMessage } from "../../src/protocol/asgi.js";
import { HeaderList } from "../../src/protocol/header-list.js";
import { Deferred } from "../../src/common/promises.js";
import { body, bytes, errorOf, type HTTPCall, part, sendEach, start, toPairs } from "./_calls.js";
import type { Request } from "./_driver.js";
import { exchange, type Stage, type Whole } from "./_stage.js";
import type { Statement } from "./_statement.js";

const START = "ASGI www#response-start-send-event";
const BODY = "ASGI www#response-body-send-event";
const ERRORS = "ASGI main#error-handling";
const CONTENT_LENGTH = "RFC 9110 §8.6";

/** The response to an error of the application. */
const FAILED = { status: 500, body: '{"detail":"Internal Server Error"}', end: "whole" };

/** The values of a header of a response. */
function valuesOf({ headers }: Whole, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

interface Scripted {
  /** The name of the error of each message, or `null`. */
  readonly errors: readonly (string | null)[];
  readonly response: Whole;
  readonly log: readonly string[];
}

/** Lets an application send messages, ignoring their errors, and return. */
async function script(stage: Stage, messages: readonly object[], request: Request = {}): Promise<Scripted> {
  const { value, ...rest } = await exchange(stage, request, ({ send }) => sendEach(send, messages));
  return { errors: await value, ...rest };
}

const ON_PURPOSE = new Error("on purpose");

/** Lets an application send messages, and throw. */
async function scriptFailure(
  stage: Stage,
  messages: readonly object[],
  error: unknown,
): Promise<Omit<Scripted, "errors">> {
  return exchange(stage, {}, async ({ send }) => {
    await sendEach(send, messages);
    throw error;
  });
}

const KEEPS_OPEN = { "uWebSockets.js": "it closes a connection only after a body in one message" };

const phases: readonly Statement[] = [
  {
    title: "A start and a body are a response",
    source: START,
    run: async (stage) => {
      const { errors, response, log } = await script(stage, [start(418, [["x-test", "a b"]]), body("short and stout")]);
      expect(errors).toEqual([null, null]);
      expect(response).toMatchObject({ status: 418, body: "short and stout", end: "whole" });
      expect(valuesOf(response, "x-test")).toEqual(["a b"]);
      expect(log).toEqual([]);
    },
  },
  {
    title: "The head is not sent before the first body message",
    source: START,
    run: async (stage) => {
      const gate = new Deferred<void>();
      const started = new Deferred<void>();
      let isAnswered = false;
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          started.resolve();
          await gate.promise;
          await send(body("late"));
        },
      });
      const response = server.request().finally(() => (isAnswered = true));
      await started.promise;
      await server.fence();
      expect(isAnswered).toBe(false);
      gate.resolve();
      expect((await response).status).toBe(200);
    },
  },
  {
    title: "An empty part sends the head",
    source: BODY,
    differs: {
      "uWebSockets.js": "it sends a head with the first bytes of the body",
      "Bun fetch": "it sends a head with the first bytes of the body",
    },
    run: async (stage) => {
      const seen = new Deferred<void>();
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          await send(part());
          await seen.promise;
          await send(body("late"));
        },
      });
      const { status } = await server.request();
      seen.resolve();
      expect(status).toBe(200);
    },
  },
  {
    title: "A second start throws, and the first one stands",
    source: START,
    run: async (stage) => {
      const { errors, response } = await script(stage, [start(201), start(202), body("whole")]);
      expect(errors).toEqual([null, "ProtocolError", null]);
      expect(response).toMatchObject({ status: 201, body: "whole", end: "whole" });
    },
  },
  {
    title: "A start after a part of the body throws, and the response goes on",
    source: START,
    run: async (stage) => {
      const { errors, response } = await script(stage, [start(201), part("a"), start(202), body("b")]);
      expect(errors).toEqual([null, null, "ProtocolError", null]);
      expect(response).toMatchObject({ status: 201, body: "ab", end: "whole" });
    },
  },
  {
    title: "A body before the start throws, and a response can follow",
    source: START,
    run: async (stage) => {
      const { errors, response } = await script(stage, [part("early"), body("early"), start(200), body("whole")]);
      expect(errors).toEqual(["ProtocolError", "ProtocolError", null, null]);
      expect(response).toMatchObject({ status: 200, body: "whole", end: "whole" });
    },
  },
  {
    title: "A message of another type throws in each phase, and the response goes on",
    source: ERRORS,
    run: async (stage) => {
      const others = [
        { type: "http.unknown" },
        { type: "websocket.accept" },
        { type: "lifespan.startup.complete" },
        {},
      ];
      const messages = [...others, start(200), ...others, part("a"), ...others, body("b")];
      const { errors, response } = await script(stage, messages);
      const thrown = others.map(() => "ProtocolError");
      expect(errors).toEqual([...thrown, null, ...thrown, null, ...thrown, null]);
      expect(response).toMatchObject({ status: 200, body: "ab", end: "whole" });
    },
  },
  {
    title: "Messages after the last body are ignored, whatever they are",
    source: BODY,
    run: async (stage) => {
      const after = [part("more"), start(500), start(9), body("again"), { type: "http.unknown" }];
      const { errors, response, log } = await script(stage, [start(200), body("whole"), ...after]);
      expect(errors).toEqual([null, null, ...after.map(() => null)]);
      expect(response).toMatchObject({ status: 200, body: "whole", end: "whole" });
      expect(log).toEqual([]);
    },
  },
  {
    title: "A body that is text throws, and the response goes on",
    source: BODY,
    run: async (stage) => {
      const words = { type: "http.response.body", body: "text" };
      const { errors, response } = await script(stage, [start(200), words, part("a"), words, body("b")]);
      expect(errors).toEqual([null, "ProtocolError", null, "ProtocolError", null]);
      expect(response).toMatchObject({ status: 200, body: "ab", end: "whole" });
    },
  },
  {
    title: "A body that is neither bytes nor text throws, and the response goes on",
    source: BODY,
    run: async (stage) => {
      const wrong = [5, true, {}, { length: 1 }, [1]].map((content) => ({ type: "http.response.body", body: content }));
      const { errors, response } = await script(stage, [start(200), ...wrong, part("a"), ...wrong, body("b")]);
      const thrown = wrong.map(() => "ProtocolError");
      expect(errors).toEqual([null, ...thrown, null, ...thrown, null]);
      expect(response).toMatchObject({ status: 200, body: "ab", end: "whole" });
    },
  },
  {
    title: "A body message may have text in `ascii`, whole or as a part",
    source: "src/asgi.ts",
    run: async (stage) => {
      const whole = await script(stage, [start(200), { type: "http.response.body", ascii: "hello" }]);
      expect(whole.response).toMatchObject({ body: "hello", end: "whole" });
      expect([whole.errors, valuesOf(whole.response, "content-length")]).toEqual([[null, null], ["5"]]);
      const parts = await script(stage, [
        start(200),
        { type: "http.response.body", ascii: "one,", more_body: true },
        { type: "http.response.body", ascii: "two,", body: null, more_body: true },
        { type: "http.response.body", ascii: null, body: bytes("three") },
      ]);
      expect(parts.errors).toEqual([null, null, null, null]);
      expect(parts.response).toMatchObject({ body: "one,two,three", end: "whole" });
    },
  },
  {
    title: "`ascii` that is not ASCII throws, and the response goes on",
    source: "src/asgi.ts",
    run: async (stage) => {
      const wrong = ["caf\u00e9", "\u2603"].map((ascii) => ({ type: "http.response.body", ascii }));
      const { errors, response } = await script(stage, [start(200), ...wrong, body("ok")]);
      expect(errors).toEqual([null, ...wrong.map(() => "ProtocolError"), null]);
      expect(response).toMatchObject({ status: 200, body: "ok", end: "whole" });
    },
  },
  {
    title: "`ascii` that is not text throws, and the response goes on",
    source: "src/asgi.ts",
    run: async (stage) => {
      const wrong = [5, {}, [1]].map((ascii) => ({ type: "http.response.body", ascii }));
      const { errors, response } = await script(stage, [start(200), ...wrong, body("ok")]);
      expect(errors).toEqual([null, ...wrong.map(() => "ProtocolError"), null]);
      expect(response).toMatchObject({ status: 200, body: "ok", end: "whole" });
    },
  },
];

const heads: readonly Statement[] = [
  ...[200, 299, 404, 599].map((status): Statement => ({
    title: `The status ${status} is sent`,
    source: "RFC 9110 §15",
    run: async (stage) => {
      const { errors, response } = await script(stage, [start(status), body("ok")]);
      expect([errors, response]).toEqual([[null, null], expect.objectContaining({ status, body: "ok", end: "whole" })]);
    },
  })),
  {
    title: "A status that is not a whole number from 200 to 599 throws, and another can follow",
    source: "RFC 9110 §15",
    run: async (stage) => {
      const wrong = [99, 100, 101, 199, 600, 999, 200.5, -200, Number.NaN, "200", null, undefined];
      const starts = wrong.map((status) => ({ type: "http.response.start", status }));
      const { errors, response } = await script(stage, [...starts, start(200), body("ok")]);
      expect(errors).toEqual([...wrong.map(() => "ProtocolError"), null, null]);
      expect(response).toMatchObject({ status: 200, body: "ok", end: "whole" });
    },
  },
  ...(
    [
      ["an empty name", [["", "a"]]],
      ["a blank in a name", [["x test", "a"]]],
      ["a colon in a name", [["x:test", "a"]]],
      ["CR LF in a name", [["x\r\ny", "a"]]],
      ["a name beyond ASCII", [["x-\u00e9", "a"]]],
      ["a pseudo-header", [[":status", "200"]]],
      ["CR LF in a value", [["x-test", "a\r\ny: b"]]],
      ["LF in a value", [["x-test", "a\nb"]]],
      ["CR in a value", [["x-test", "a\rb"]]],
      ["NUL in a value", [["x-test", "a\0b"]]],
    ] as const
  ).map(([what, headers]): Statement => ({
    title: `A start with ${what} throws, and another can follow`,
    source: "RFC 9110 §5.1, §5.5",
    run: (stage) => checkRefusedStart(stage, start(201, headers)),
  })),
  {
    title: "A start with another control character in a value throws, and another can follow",
    source: "RFC 9110 §5.5",
    run: async (stage) => {
      const wrong = ["\x01", "\x08", "\x1b[2J", "\x7f"].map((value) => start(201, [["x-test", `a${value}b`]]));
      const { errors } = await script(stage, [...wrong, start(200), body("ok")]);
      expect(errors).toEqual([...wrong.map(() => "ProtocolError"), null, null]);
    },
  },
  ...(
    [
      ["text in a name", [["x-test", bytes("a")]]],
      ["text in a value", [[bytes("x-test"), "a"]]],
      ["a record in place of pairs", { "x-test": "a" }],
      ["null in place of pairs", null],
    ] as const
  ).map(([what, headers]): Statement => ({
    title: `A start with ${what} throws, and another can follow`,
    source: START,
    run: async (stage) => {
      const { errors, response } = await script(stage, [
        { type: "http.response.start", status: 201, headers },
        start(200),
        body("ok"),
      ]);
      expect([errors[0] === null, ...errors.slice(1)]).toEqual([false, null, null]);
      expect(response).toMatchObject({ status: 200, body: "ok", end: "whole" });
    },
  })),
  {
    title: "A tab and bytes beyond ASCII in a value are sent, with any body",
    source: "RFC 9110 §5.5",
    differs: { workerd: "it writes values as UTF-8" },
    run: async (stage) => {
      const value = "a\tb caf\u00e9 \xff";
      const ascii = { type: "http.response.body", ascii: "ok" };
      for (const messages of [[body("ok")], [body()], [ascii], [{ ...ascii, more_body: true }, ascii]]) {
        const { errors, response } = await script(stage, [start(200, [["x-test", value]]), ...messages]);
        expect([errors, valuesOf(response, "x-test")]).toEqual([[null, ...messages.map(() => null)], [value]]);
      }
    },
  },
  {
    title: "Repeated headers are sent in their order, and each `Set-Cookie` by itself",
    source: "RFC 9110 §5.3",
    run: async (stage) => {
      const headers = [
        ["set-cookie", "a=1"],
        ["x-test", "1"],
        ["set-cookie", "b=2"],
        ["x-test", "2"],
      ] as const;
      const { response } = await script(stage, [start(200, headers), body()]);
      expect(valuesOf(response, "set-cookie")).toEqual(["a=1", "b=2"]);
      expect(valuesOf(response, "x-test").join(", ")).toBe("1, 2");
    },
  },
  {
    title: "`headers` may be absent, any iterable, or a `HeaderList`",
    source: START,
    run: async (stage) => {
      const pairs = toPairs([["x-test", "a"]]);
      const lists = [pairs, new Set(pairs), pairs.values(), new HeaderList(["X-Test", "a"])];
      for (const headers of lists) {
        const { errors, response } = await script(stage, [
          { type: "http.response.start", status: 200, headers },
          body(),
        ]);
        expect([errors, valuesOf(response, "x-test")]).toEqual([[null, null], ["a"]]);
      }
      const { errors, response } = await script(stage, [{ type: "http.response.start", status: 200 }, body("ok")]);
      expect([errors, response]).toEqual([[null, null], expect.objectContaining({ status: 200, body: "ok" })]);
    },
  },
  {
    title: "Headers about the connection and the framing are not those of the application",
    source: "RFC 9110 §7.6.1",
    run: async (stage) => {
      const own = [
        ["Transfer-Encoding", "chunked"],
        ["keep-alive", "timeout=77"],
        ["trailer", "x-test"],
        ["connection", "x-test"],
        ["x-test", "a"],
      ] as const;
      const { errors, response } = await script(stage, [start(200, own), body("2\r\nok\r\n0\r\n\r\n")]);
      expect(errors).toEqual([null, null]);
      expect(response).toMatchObject({ status: 200, body: "2\r\nok\r\n0\r\n\r\n", end: "whole" });
      const sent = ["transfer-encoding", "keep-alive", "trailer", "connection", "x-test"].map((name) => [
        name,
        ...valuesOf(response, name),
      ]);
      expect(sent.flat()).toEqual(expect.not.arrayContaining(["chunked", "timeout=77"]));
      expect([valuesOf(response, "trailer"), valuesOf(response, "x-test")]).toEqual([[], ["a"]]);
      expect(valuesOf(response, "connection")).not.toContain("x-test");
    },
  },
  {
    title: "The server adds no `Content-Type`",
    source: START,
    differs: { "Bun fetch": "it adds the type of bytes" },
    run: async (stage) => {
      const { response } = await script(stage, [start(200), body("text")]);
      expect(valuesOf(response, "content-type")).toEqual([]);
    },
  },
  {
    title: "A `Date` of the application is the only one",
    source: "RFC 9110 §6.6.1",
    differs: { "uWebSockets.js": "it writes a date of its own into each head" },
    run: async (stage) => {
      const date = "Sun, 06 Nov 1994 08:49:37 GMT";
      const { response } = await script(stage, [start(200, [["Date", date]]), body()]);
      expect(valuesOf(response, "date")).toEqual([date]);
    },
  },
];

/** Responses that end their connection, if the application asks for it. */
const closing: readonly Statement[] = (
  [
    ["a response", [body("bye")], {}],
    ["a response in parts", [part("by"), body("e")], KEEPS_OPEN],
    ["an empty response", [body()], KEEPS_OPEN],
  ] as const
).map(([what, messages, differs]) => ({
  title: `A \`Connection: close\` of the application ends the connection after ${what}`,
  source: "RFC 9112 §9.6",
  differs: { "HTTP/2": "its connection has many requests", fetch: "the connection is the platform's", ...differs },
  run: async (stage) => {
    const { response } = await script(stage, [start(200, [["connection", "close"]]), ...messages]);
    expect([response.end, valuesOf(response, "connection")]).toEqual(["whole", ["close"]]);
  },
}));

async function checkRefusedStart(stage: Stage, message: object): Promise<void> {
  const { errors, response } = await script(stage, [message, start(200), body("ok")]);
  expect(errors).toEqual(["ProtocolError", null, null]);
  expect(response).toMatchObject({ status: 200, body: "ok", end: "whole" });
}

/** Messages of a response, and its length and body as the client reads them. */
interface LengthRow {
  readonly title: string;
  readonly source: string;
  readonly method?: string;
  readonly messages: readonly SendMessage[];
  readonly length: readonly string[];
  readonly body?: string;
  readonly differs?: Statement["differs"];
  readonly keeps?: Statement["keeps"];
}

const five = [["content-length", "5"]] as const;
const ZERO = "it adds the length 0 to a response without a body";
const ADDS_ZERO = { differs: { "Bun fetch": ZERO, "Deno fetch": ZERO } };
const NO_LENGTH = "it sends a 205 and a 304 without a length";
const HEAD = "RFC 9110 §9.3.2";

const lengthRows: readonly LengthRow[] = [
  {
    title: "A body in one message is sent with its length",
    source: CONTENT_LENGTH,
    messages: [start(200), body("hello")],
    length: ["5"],
    body: "hello",
  },
  {
    title: "An empty body in one message is sent with the length 0",
    source: CONTENT_LENGTH,
    messages: [start(200), body()],
    length: ["0"],
  },
  {
    title: "A body in parts is sent without a length",
    source: "RFC 9112 §6.1",
    messages: [start(200), part("hel"), body("lo")],
    length: [],
    body: "hello",
  },
  {
    title: "A body in parts is sent with the length of the application",
    source: CONTENT_LENGTH,
    differs: { "Bun fetch": "it sends a stream in chunks" },
    messages: [start(200, five), part("hel"), part("lo"), body()],
    length: ["5"],
    body: "hello",
  },
  {
    title: "A length that is given twice is sent once",
    source: CONTENT_LENGTH,
    messages: [start(200, [...five, ["Content-Length", "5"]]), body("hello")],
    length: ["5"],
    body: "hello",
  },
  {
    title: "A response to HEAD has no body, and the length of the body that it was given",
    source: HEAD,
    method: "HEAD",
    messages: [start(200), body("hello")],
    length: ["5"],
  },
  {
    title: "A response to HEAD has the length of the application, which sends no body",
    source: HEAD,
    method: "HEAD",
    messages: [start(200, five), body()],
    length: ["5"],
  },
  {
    title: "A response to HEAD has no part of a body, and the length of the application",
    source: HEAD,
    method: "HEAD",
    messages: [start(200, five), part("hel"), part("lo"), body()],
    length: ["5"],
  },
  {
    title: "A response to HEAD in parts has no length if the application gives none",
    source: HEAD,
    ...ADDS_ZERO,
    method: "HEAD",
    messages: [start(200), part("hel"), body("lo")],
    length: [],
  },
  {
    title: "A response to HEAD whose application sends nothing has no length",
    source: HEAD,
    ...ADDS_ZERO,
    method: "HEAD",
    messages: [start(200), body()],
    length: [],
  },
  ...(["GET", "HEAD"] as const).flatMap((method): LengthRow[] => [
    {
      title: `A 204 to ${method} has neither a body nor a length`,
      source: "RFC 9110 §15.3.5",
      method,
      messages: [start(204, five), body("hello")],
      length: [],
    },
    {
      title: `A 204 to ${method} has no part of a body`,
      source: "RFC 9110 §15.3.5",
      method,
      messages: [start(204), part("hel"), body("lo")],
      length: [],
    },
    {
      title: `A 205 to ${method} has no body, and the length 0`,
      source: "RFC 9110 §15.3.6",
      differs: { "Deno fetch": NO_LENGTH },
      method,
      messages: [start(205, five), body("hello")],
      length: ["0"],
    },
    {
      title: `A 205 to ${method} has no part of a body`,
      source: "RFC 9110 §15.3.6",
      differs: { "Deno fetch": NO_LENGTH },
      method,
      messages: [start(205), part("hel"), body("lo")],
      length: ["0"],
    },
    {
      title: `A 304 to ${method} has no body, and no length if the application gives none`,
      source: "RFC 9110 §15.4.5",
      method,
      messages: [start(304), body("hello")],
      length: [],
    },
    {
      title: `A 304 to ${method} has no body, and the length of the application`,
      source: CONTENT_LENGTH,
      differs: { "Deno fetch": NO_LENGTH, ...(method === "GET" && { workerd: "it sends a length only to HEAD" }) },
      method,
      messages: [start(304, five), body()],
      length: ["5"],
    },
    {
      title: `A 304 to ${method} has no part of a body`,
      source: "RFC 9110 §15.4.5",
      method,
      messages: [start(304), part("hel"), body("lo")],
      length: [],
    },
  ]),
];

const lengths: readonly Statement[] = [
  ...lengthRows.map(({ method = "GET", messages, length, body: content = "", ...row }): Statement => ({
    ...row,
    run: async (stage) => {
      const { errors, response, log } = await script(stage, messages, { method });
      expect(errors).toEqual(messages.map(() => null));
      expect(response).toMatchObject({ body: content, end: "whole" });
      expect(valuesOf(response, "content-length")).toEqual(length);
      expect(log).toEqual([]);
    },
  })),
  {
    title: "Lengths that differ, or are not numbers, throw, and another start can follow",
    source: CONTENT_LENGTH,
    run: async (stage) => {
      const wrong = ["x", "", "-1", "+5", "5.0", "0x5", "5, 5", "5 5", "9".repeat(20)].map((value) =>
        start(201, [["content-length", value]]),
      );
      const twice = start(201, [
        ["content-length", "5"],
        ["Content-Length", "6"],
      ]);
      const { errors, response } = await script(stage, [...wrong, twice, start(200), body("ok")]);
      expect(errors).toEqual([...wrong.map(() => "ProtocolError"), "ProtocolError", null, null]);
      expect(response).toMatchObject({ status: 200, body: "ok", end: "whole" });
    },
  },
  ...[
    ["longer", "hello!"],
    ["shorter", "hell"],
  ].map(([how, content]): Statement => ({
    title: `A body in one message that is ${how} than its length throws, and the client gets a 500`,
    source: "RFC 9112 §6.3",
    run: async (stage) => {
      const { value, response, log } = await exchange(stage, {}, async ({ send }) => {
        await send(start(200, five));
        await send(body(content));
      });
      expect(await errorOf(() => value)).toBe("ProtocolError");
      expect(response).toMatchObject(FAILED);
      expect(log).toEqual([expect.stringMatching(/^error The application threw: GET \/ \| ProtocolError: /)]);
    },
  })),
  {
    title: "A body in one message that is not as long as its length throws, and another body can follow",
    source: "RFC 9112 §6.3",
    run: async (stage) => {
      const { errors, response } = await script(stage, [start(200, five), body("hello!"), body("hell"), body("hello")]);
      expect(errors).toEqual([null, "ProtocolError", "ProtocolError", null]);
      expect(response).toMatchObject({ status: 200, body: "hello", end: "whole" });
    },
  },
  ...(
    [
      ["longer", [part("hel"), part("lo!")]],
      ["shorter", [part("hel"), body("l")]],
    ] as const
  ).map(([how, messages]): Statement => ({
    title: `A body in parts that becomes ${how} than its length throws, and the response is cut`,
    source: "RFC 9112 §6.3",
    run: async (stage) => {
      const { errors, response } = await script(stage, [start(200, five), ...messages]);
      expect(errors).toEqual([null, null, "ProtocolError"]);
      expect(response.end).toBe("cut");
    },
  })),
  {
    title: "A response that was cut for its length stays cut if the application goes on",
    source: "RFC 9112 §6.3",
    run: async (stage) => {
      const { errors, response } = await script(stage, [
        start(200, five),
        part("hel"),
        part("lo!"),
        part("lo"),
        body(),
      ]);
      expect(errors).toEqual([null, null, "ProtocolError", "ClientDisconnect", "ClientDisconnect"]);
      expect(response.end).toBe("cut");
    },
  },
];

/** The ends of an application without its response. */
const failures: readonly Statement[] = [
  ...(
    [
      ["without a response", []],
      ["after the start", [start(200, [["x-test", "a"]])]],
    ] as const
  ).map(([when, messages]): Statement => ({
    title: `An application that returns ${when} is a 500, and an error in the log`,
    source: ERRORS,
    run: async (stage) => {
      const { response, log } = await script(stage, messages);
      expect(response).toMatchObject(FAILED);
      expect(valuesOf(response, "x-test")).toEqual([]);
      expect(log).toEqual(["error The application returned without a response: GET /"]);
    },
  })),
  {
    title: "An application that returns without the end of its response cuts it, with an error in the log",
    source: ERRORS,
    run: async (stage) => {
      const { response, log } = await script(stage, [start(200), part("half")]);
      expect(response.end).toBe("cut");
      expect(log).toEqual(["error The application returned without the end of its response: GET /"]);
    },
  },
  ...(
    [
      ["before the start", []],
      ["after the start", [start(200, [["x-test", "a"]])]],
    ] as const
  ).map(([when, messages]): Statement => ({
    title: `An application that throws ${when} is a 500, and an error in the log`,
    source: ERRORS,
    run: async (stage) => {
      const { response, log } = await scriptFailure(stage, messages, ON_PURPOSE);
      expect(response).toMatchObject(FAILED);
      expect(valuesOf(response, "x-test")).toEqual([]);
      expect(valuesOf(response, "content-type")).toEqual(["application/json"]);
      expect(log).toEqual(["error The application threw: GET / | Error: on purpose"]);
    },
  })),
  {
    title: "A 500 to HEAD has no body",
    source: HEAD,
    differs: KEEPS_OPEN,
    run: async (stage) => {
      const { response } = await exchange(stage, { method: "HEAD" }, () => Promise.reject(ON_PURPOSE));
      expect(response).toMatchObject({ status: 500, body: "", end: "whole" });
      expect(valuesOf(response, "content-length")).toEqual([String(FAILED.body.length)]);
    },
  },
  {
    title: "An application that throws after a part of the body cuts the response, with an error in the log",
    source: ERRORS,
    run: async (stage) => {
      const { response, log } = await scriptFailure(stage, [start(200), part("half")], ON_PURPOSE);
      expect(response.end).toBe("cut");
      expect(log).toEqual(["error The application threw: GET / | Error: on purpose"]);
    },
  },
  {
    title: "An application that throws after the response does not change it, with an error in the log",
    source: ERRORS,
    run: async (stage) => {
      const { response, log } = await scriptFailure(stage, [start(200), body("whole")], ON_PURPOSE);
      expect(response).toMatchObject({ status: 200, body: "whole", end: "whole" });
      expect(log).toEqual(["error The application threw: GET / | Error: on purpose"]);
    },
  },
  ...(
    [
      ["text", "text", "text"],
      ["a number", 0, "0"],
      ["null", null, "null"],
      ["undefined", undefined, "undefined"],
      ["an object", { detail: "object" }, "[object Object]"],
    ] as const
  ).map(([what, error, logged]): Statement => ({
    title: `An application that throws ${what} is a 500, and an error in the log`,
    source: ERRORS,
    run: async (stage) => {
      const { response, log } = await scriptFailure(stage, [], error);
      expect(response).toMatchObject(FAILED);
      expect(log).toEqual([`error The application threw: GET / | ${logged}`]);
    },
  })),
  {
    title: "An application that throws before it returns a promise is a 500, and an error in the log",
    source: ERRORS,
    needs: ["in process"],
    run: async (stage) => {
      const server = await stage.start({
        http: () => {
          throw ON_PURPOSE;
        },
      });
      expect(await server.whole()).toMatchObject(FAILED);
      expect(await server.log()).toEqual(["error The application threw: GET / | Error: on purpose"]);
    },
  },
  {
    title: "The server goes on after an application that throws",
    source: ERRORS,
    run: async (stage) => {
      let calls = 0;
      const http = async ({ send }: HTTPCall): Promise<void> => {
        if (++calls < 3) throw ON_PURPOSE;
        await send(start(200));
        await send(body("ok"));
      };
      const server = await stage.start({ http });
      const statuses = [await server.whole(), await server.whole(), await server.whole()].map(({ status }) => status);
      expect(statuses).toEqual([500, 500, 200]);
    },
  },
  {
    title: "The error of a logger reaches neither the client nor the server",
    source: ERRORS,
    needs: ["in process"],
    run: async (stage) => {
      const fail = (): never => {
        throw new Error("no space left");
      };
      const { error: print } = console;
      console.error = () => {};
      try {
        const server = await stage.start(
          { http: () => Promise.reject(ON_PURPOSE) },
          { logger: { debug: fail, info: fail, warn: fail, error: fail } },
        );
        expect([await server.whole(), await server.whole()]).toMatchObject([FAILED, FAILED]);
      } finally {
        console.error = print;
      }
    },
  },
];

const waiting: readonly Statement[] = [
  {
    title: "`send` waits while the client does not read, and goes on when it does",
    source: BODY,
    run: async (stage) => {
      const [partBytes, count] = [524_288, 64];
      const gate = new Deferred<void>();
      const waits = new Deferred<boolean>();
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          for (let sent = 0; sent < count; sent++) {
            const done = Promise.resolve(
              send({ type: "http.response.body", body: new Uint8Array(partBytes), more_body: true }),
            );
            if (await stage.isWaiting(done)) waits.resolve(true);
            await done;
          }
          waits.resolve(false);
          await send(body());
        },
      });
      const response = server.request({ pausedUntil: gate.promise });
      expect(await waits.promise).toBe(true);
      gate.resolve();
      let length = 0;
      for await (const arrived of (await response).body) length += arrived.length;
      expect(length).toBe(partBytes * count);
    },
  },
];

export const responseStatements: readonly Statement[] = [
  ...phases,
  ...heads,
  ...closing,
  ...lengths,
  ...failures,
  ...waiting,
];
