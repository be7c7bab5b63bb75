/** The handler under test, and its result. @module */
import { z } from "zod";
import {
  BackgroundTasks,
  EventSourceResponse,
  FileResponse,
  HTTPException,
  JSONResponse,
  RedirectResponse,
  Response,
  StreamingResponse,
  t,
  UploadFile,
} from "../../core/src/index.js";
import type { Made, Parts } from "./_pairs-dependencies.js";
import { type Combination, isResponse } from "./_pairs-factors.js";
import { FILE_PATH, show } from "./_pairs-samples.js";
import { Broken, type Trace } from "./_pairs-trace.js";

const RETURNS = t.Object({
  got: t.Unknown(),
  user: t.Unknown(),
  dependency: t.Unknown(),
  n: t.Integer(),
  inner: t.Object({ kept: t.Boolean() }),
});

const STANDARD = z.object({
  got: z.unknown(),
  user: z.unknown(),
  dependency: z.unknown(),
  n: z.number(),
  inner: z.object({ kept: z.boolean() }),
});

/** The option `returns` of the route. A response is sent unchanged, with any schema. */
export function returnsOf({ result }: Combination): typeof RETURNS | typeof STANDARD | undefined {
  if (result === "standard") return STANDARD;
  return isResponse(result) || ["fits", "extra", "unfit"].includes(result) ? RETURNS : undefined;
}

/** The argument of a handler. */
type Given = Readonly<Record<string, unknown>>;

export function handlerOf(parts: Parts): (given: Given) => unknown {
  const { c } = parts;
  const run = (given: Given): unknown => {
    begin(parts, given);
    if (c.result === "nothing") return undefined;
    if (c.result === "times out") return new Promise(() => {});
    return isResponse(c.result) ? responseOf(parts, given) : resultOf(c, given, 1);
  };
  if (c.handler !== "async") return run;
  if (c.stream === "none") return async (given) => run(given);
  return async function* (given) {
    begin(parts, given);
    if (c.result === "nothing") return;
    yield await resultOf(c, given, 1);
    if (c.stream === "breaks") throw new Broken("stream");
    yield await resultOf(c, given, 2);
  };
}

/** The part of a handler before its result. */
function begin({ c, trace }: Parts, { draft, tasks, signal }: Given): void {
  trace.push("handler");
  if (signal instanceof AbortSignal && signal.aborted) trace.push("wrong signal");
  if (draft instanceof Response && c.draft === "status") draft.statusCode = 202;
  if (draft instanceof Response && c.draft === "header and cookie") mark(draft);
  if (tasks instanceof BackgroundTasks) addTasks(tasks, c.task, trace);
  if (c.result === "HTTP error") throw new HTTPException(404, "No such thing", { headers: { "x-why": "none" } });
  if (c.result === "error") throw new Broken("handler");
}

/** Shows in the response that an injected `Response` was used. */
export function mark(draft: Response): void {
  draft.headers.set("x-draft", "1");
  draft.setCookie("seen", "yes");
}

export function addTasks(tasks: BackgroundTasks, level: string, { push }: Trace): void {
  if (level === "failing") {
    tasks.addTask(async () => {
      push("failing task");
      throw new Broken("task");
    });
  }
  tasks.addTask(async () => push("task"));
}

/** The parameter under test, if there is one. */
function gotOf(given: Given): unknown {
  if (!("value" in given)) return null;
  const { value } = given;
  if (!(value instanceof UploadFile)) return show(value);
  return value.text().then((text) => ({ filename: value.filename, size: value.size, text }));
}

/** Waits only for a promise: a non-async handler does not return one. */
const after = (value: unknown, makeResult: (value: unknown) => unknown): unknown =>
  value instanceof Promise ? value.then(makeResult) : makeResult(value);

/** The result of a handler, or the n-th item of a generator. */
function resultOf({ result }: Combination, given: Given, n: number): unknown {
  const { user = null, dependency = null } = given;
  // The pool returns an instance as a plain object.
  const made = typeof dependency === "object" && dependency !== null ? (dependency as Made).text : dependency;
  return after(gotOf(given), (got) => {
    const whole = { got, user, dependency: made, n: result === "unfit" ? "one" : n, inner: { kept: true } };
    if (result !== "extra" && result !== "standard") return whole;
    return { ...whole, secret: 1, inner: { kept: true, secret: 2 } };
  });
}

function responseOf(parts: Parts, given: Given): unknown {
  const headers = { "x-own": "1" };
  return after(gotOf(given), (got) =>
    parts.c.result.startsWith("platform") ? platformResponse(parts.c, headers, got) : ownResponse(parts, headers, got),
  );
}

function platformResponse(c: Combination, headers: Record<string, string>, got: unknown): globalThis.Response {
  const status = Number(c.status);
  const [type, body] =
    c.result === "platform response"
      ? ["application/json", JSON.stringify({ own: got })]
      : ["text/plain", ReadableStream.from([Buffer.from("first "), Buffer.from("second")])];
  // The platform refuses a body here (Fetch §2.2.6).
  const isEmpty = status === 204 || status === 205;
  return new globalThis.Response(isEmpty ? null : body, { status, headers: { ...headers, "content-type": type } });
}

function ownResponse({ c, trace }: Parts, headers: Record<string, string>, got: unknown): Response {
  const background = c.task === "of the response" ? new BackgroundTasks() : undefined;
  if (background !== undefined) addTasks(background, c.task, trace);
  const options = { statusCode: Number(c.status), headers, background };
  async function* source<T>(...items: T[]) {
    trace.push("source");
    yield* items;
  }
  switch (c.result) {
    case "stream response":
      return new StreamingResponse(source("first ", "second"), { ...options, mediaType: "text/plain" });
    case "event response":
      return new EventSourceResponse(source({ at: 1 }, { at: 2 }), options);
    case "file":
      return new FileResponse(FILE_PATH, { ...options, mediaType: "text/plain" });
    case "redirect":
      return new RedirectResponse("/new", { headers, background });
    default:
      return new JSONResponse({ own: got }, options);
  }
}
