/** Results of handlers: validation by `returns`, and the response made of them. @module */
import { type ResponseTarget, sendWhole } from "../protocol/response.js";
import type { HTTPScope, Send } from "../protocol/asgi.js";
import { encodeUTF8, HeaderList, isASCII } from "../protocol/header-list.js";
import type { Call } from "../parameters/dependencies/call.js";
import { ResponseValidationError } from "../common/exceptions.js";
import { markHandled } from "../common/promises.js";
import { ASGI } from "../protocol/scope.js";
import { changingHeaders } from "../middleware/layer.js";
import { claim } from "../http/response/pull.js";
import { NO_BYTES, type Response } from "../http/response/response.js";
import type { CompiledReturns } from "../schema/schema.js";
import { explainJSON } from "../schema/structs.js";
import { Faults } from "../schema/faults.js";

/**
 * Adds the headers and cookies of an injected `Response` to each response that passes: the response itself is not
 * modified, and can be returned for many requests.
 *
 * @param wins - Whether the headers of the injected `Response` take precedence: they do if the framework created the
 * response from a result, but not if the handler returned a response.
 */
export function withDraft(send: Send, draft: Response, wins: boolean): Send {
  return changingHeaders(send, (headers) => {
    const added = [...draft.headers].filter(([name]) => {
      // The length is the length of the response.
      if (name === "content-length") return false;
      return name === "set-cookie" || wins || !headers.has(name);
    });
    for (const [name] of added) if (name !== "set-cookie") headers.delete(name);
    for (const [name, value] of added) headers.append(name, value);
  });
}

/**
 * JSON text of a result, checked and cut by `returns`. A promise where the schema checks asynchronously.
 *
 * @param place - The prefix of the location of every error.
 * @throws ResponseValidationError when it does not fit.
 * @throws TypeError for what JSON does not have, or would write as `{}`, and for a promise inside of it.
 */
export function resultJSON(returns: CompiledReturns, result: unknown, place?: string): Promise<string> | string {
  const faults = new Faults();
  const text = returns(result === undefined ? null : result, faults);
  if (typeof text === "string" && faults.count === 0) return text;
  return text instanceof Promise
    ? text.then((late) => accept(late, result, faults, place))
    : accept(text, result, faults, place);
}

function accept(text: string | undefined, result: unknown, faults: Faults, place: string | undefined): string {
  if (faults.count === 0) return text ?? refuse(result);
  if (place !== undefined) faults.within(0, place);
  // The values of a result may be secrets, and the error goes to logs and exception handlers.
  throw new ResponseValidationError(faults.forClient().map(({ type, loc, msg }) => ({ type, loc, msg })));
}

/**
 * JSON text of a result without a schema.
 *
 * @throws TypeError for what JSON does not have, or would write as `{}`, and for a promise inside of it.
 */
export function resultText(result: unknown): string {
  if (result === undefined) return "null";
  if (typeof result === "object" && result !== null) {
    // The first question saves most results four more, and 60 ns.
    if (result.constructor !== Object || Symbol.asyncIterator in result) assertJSON(result);
  }
  let text: string;
  try {
    text = JSON.stringify(result) ?? refuse(result);
  } catch (error) {
    throw explainJSON(error);
  }
  if (text.includes("{}")) {
    assertJSON(result);
    assertAwaited(result, []);
  }
  return text;
}

function refuse(result: unknown): never {
  throw new TypeError(`A handler cannot return a ${typeof result}. Return a value that JSON can write, or a Response.`);
}

function assertJSON(result: unknown): void {
  if (typeof result !== "object" || result === null) return;
  if (Symbol.asyncIterator in result) {
    claim(result);
    throw new TypeError(
      "A handler cannot return an async iterable, which JSON writes as {}. Return new StreamingResponse(iterable), or " +
        "write the handler as `async function*`.",
    );
  }
  if (result instanceof Map || result instanceof Set) {
    const instead = result instanceof Map ? "Object.fromEntries(map)" : "[...set]";
    throw new TypeError(
      `A handler cannot return a ${result.constructor.name}, which JSON writes as {}. Return ${instead}.`,
    );
  }
  if (ArrayBuffer.isView(result) || result instanceof ArrayBuffer) {
    throw new TypeError("A handler cannot return bytes as JSON. Return new Response(bytes, { mediaType }).");
  }
}

/** Refuses a promise inside of a result. JSON has written the result already, so it goes in no circle. */
function assertAwaited(value: unknown, place: readonly string[]): void {
  if (typeof value !== "object" || value === null || "toJSON" in value) return;
  if (value instanceof Promise) {
    void markHandled(value);
    throw new TypeError(
      `The result of the handler has a promise at ${place.join(".")}, which JSON writes as {}. Await it.`,
    );
  }
  for (const [name, member] of Object.entries(value)) assertAwaited(member, [...place, name]);
}

/**
 * The headers of JSON by the length of the body, for the lengths that most responses have. Frozen, so that a server may
 * check and format each of them once: that saved 4,000 of 24,000 instructions a request. Others are not frozen: servers
 * store checked ones in a `WeakMap`, and a new key for each response took 6 of 17 µs (Node 20).
 */
const jsonHeaders = new Map<number, HeaderList>();
const NO_HEADERS: readonly never[] = [];
const MAX_KEPT_LENGTH = 1024;

function createJSONHeaders(length: number): HeaderList {
  const raw = ["content-type", "application/json", "content-length", String(length)];
  if (length > MAX_KEPT_LENGTH) return new HeaderList(raw);
  const list = new HeaderList(Object.freeze(raw));
  jsonHeaders.set(length, list);
  return list;
}

/** Sends JSON text: the way of a result other than a `Response`, without making one. */
export function sendJSON(
  to: Pick<Call, "scope"> & ResponseTarget,
  status: number,
  text: string,
  isBodyless: boolean,
): Promise<void> | void {
  if (isBodyless) return sendWhole(to, status, NO_HEADERS, NO_BYTES);
  const { scope } = to;
  const isHead = (scope as HTTPScope).method === "HEAD";
  // The servers of this package read strings: they have created the scope, or the original of the copy.
  if (scope.asgi === ASGI && !isHead && isASCII(text))
    return sendWhole(to, status, jsonHeaders.get(text.length) ?? createJSONHeaders(text.length), text);
  const body = encodeUTF8(text);
  const headers = jsonHeaders.get(body.length) ?? createJSONHeaders(body.length);
  return sendWhole(to, status, headers, isHead ? NO_BYTES : body);
}
