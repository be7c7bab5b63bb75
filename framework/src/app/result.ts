import type { Send } from "../asgi.js";
import { encodeUTF8, HeaderList } from "../datastructures.js";
import { ResponseValidationError } from "../exceptions.js";
import { markHandled } from "../promises.js";
import { claim, EMPTY, sendWhole } from "../response.js";
import { type CompiledReturns, Faults } from "../schema.js";

/**
 * What of a result leaves the process.
 *
 * @throws ResponseValidationError when it does not fit.
 */
export function checkResult(returns: CompiledReturns, result: unknown): unknown {
  const faults = new Faults();
  const output = returns(result === undefined ? null : result, faults);
  if (output instanceof Promise) return output.then((late: unknown) => accept(late, faults));
  return faults.count === 0 ? output : accept(output, faults);
}

function accept(output: unknown, faults: Faults): unknown {
  if (faults.count === 0) return output;
  // The values of a result may be secrets, and the error goes to logs and exception handlers.
  throw new ResponseValidationError(faults.forClient().map(({ type, loc, msg }) => ({ type, loc, msg })));
}

/**
 * JSON text of a result.
 *
 * @param isChecked - Tells if it is what `returns` has made.
 * @throws TypeError for what `JSON.stringify` refuses, or would write as `{}`, and for a promise inside of it.
 */
export function resultText(result: unknown, isChecked: boolean): string {
  if (result === undefined) return "null";
  if (!isChecked && typeof result === "object" && result !== null) {
    const isPlain = Object.getPrototypeOf(result) === Object.prototype;
    if (!isPlain || Symbol.asyncIterator in result) assertJSON(result);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch (error) {
    throw explain(error);
  }
  if (text === undefined) {
    throw new TypeError(
      `A handler cannot return a ${typeof result}. Return a value that JSON can write, or a Response.`,
    );
  }
  if (!isChecked && text.includes("{}")) assertAwaited(result, []);
  return text;
}

/** JSON text of a result, checked where the route has `returns`. A promise where the schema checks asynchronously. */
export function resultJSON(returns: CompiledReturns | null, result: unknown): Promise<string> | string {
  if (returns === null) return resultText(result, false);
  const output = checkResult(returns, result);
  return output instanceof Promise ? output.then((late: unknown) => resultText(late, true)) : resultText(output, true);
}

/** Says for the two errors of `JSON.stringify` what to return instead. */
function explain(error: unknown): unknown {
  const message = error instanceof TypeError ? error.message : "";
  const instead = message.includes("BigInt")
    ? "A handler cannot return a bigint, which JSON does not have. Return String(value)."
    : message.includes("circular")
      ? "A handler cannot return an object that contains itself. Return one without the circle, or declare `returns`."
      : null;
  return instead === null ? error : new TypeError(instead, { cause: error });
}

/** The platform's own response, which looks like ours where it is returned. Node loads it when it is first asked for. */
function isWebResponse(result: object): boolean {
  return (
    Symbol.toStringTag in result && result[Symbol.toStringTag] === "Response" && result instanceof globalThis.Response
  );
}

function assertJSON(result: object): void {
  if (isWebResponse(result)) {
    throw new TypeError('A handler cannot return the global Response. Write `import { Response } from "tsgi"`.');
  }
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
 * check and format each of them once: that saved 4,000 of 24,000 instructions a request.
 */
const jsonHeaders: HeaderList[] = [];
const NO_HEADERS: readonly never[] = [];
const MAX_KEPT_LENGTH = 1024;
const NOT_ASCII = /[^\x00-\x7f]/; // oxlint-disable-line no-control-regex -- the range is that of ASCII

function jsonHeadersOf(length: number): HeaderList {
  const known = jsonHeaders[length];
  if (known !== undefined) return known;
  const raw = ["content-type", "application/json", "content-length", String(length)];
  const headers = new HeaderList(Object.freeze(raw));
  if (length < MAX_KEPT_LENGTH) jsonHeaders[length] = headers;
  return headers;
}

/** Sends JSON text: the way of a result that is no `Response`, without making one. */
export function sendJSON(
  send: Send,
  status: number,
  text: string,
  headOnly: boolean,
  isBodyless: boolean,
): Promise<void> | void {
  if (isBodyless) return sendWhole(send, status, NO_HEADERS, EMPTY);
  // Bytes of a small body, made here and read as text there, were a tenth of the instructions of a request.
  if (send.text !== undefined && !headOnly && text.length <= MAX_KEPT_LENGTH && !NOT_ASCII.test(text)) {
    return send.text(status, jsonHeadersOf(text.length), text);
  }
  const body = encodeUTF8(text);
  return sendWhole(send, status, jsonHeadersOf(body.length), headOnly ? EMPTY : body);
}
