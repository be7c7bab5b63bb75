/** Results of handlers, encoded for the way from a worker to the server. @module */
import { describeInstance, detachResult } from "../platforms/concurrency/ownership.js";
import { LoopError } from "../platforms/concurrency/errors.js";
import { PREPARE, Response } from "../http/response/response.js";

/** A handler's result on its way from a worker. */
type SentResult = { readonly isPromise: boolean } & (
  | { readonly form: "value"; readonly value: unknown }
  | {
      readonly form: "response";
      readonly statusCode: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: Uint8Array;
    }
);

/**
 * Gives a result the form in which it travels, in the worker.
 *
 * @throws LoopError when it belongs to the worker's loop.
 */
export async function encodeResult(route: string, pending: unknown): Promise<SentResult> {
  const isPromise = pending instanceof Promise;
  const result = await pending;
  const refuse = (path: string, what: string) =>
    `${route} is a plain function, which runs in a worker of the pool, and its ${path} is ${what}, which belongs to the ` +
    "worker's loop. Make the handler async, set the route's option `pool: false`, or return data.";
  if (!(result instanceof Response)) return { isPromise, form: "value", value: detachResult(result, refuse) };
  if (result.send !== Response.prototype.send || result[PREPARE] !== Response.prototype[PREPARE]) {
    throw new LoopError(refuse("result", describeInstance(result)));
  }
  if (result.background) throw new LoopError(refuse("result.background", "a list of functions"));
  const { statusCode, headers, body } = result;
  return { isPromise, form: "response", statusCode, headers: [...headers], body };
}

/** The result itself, in the server. @param onPromise - Called for a handler that gave a promise. */
export function decodeResult(sent: unknown, onPromise: () => void): unknown {
  const result = sent as SentResult;
  if (result.isPromise) onPromise();
  if (result.form === "value") return result.value;
  return new Response(result.body, { statusCode: result.statusCode, headers: result.headers });
}
