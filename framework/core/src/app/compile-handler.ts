/** Dependency injection: params compiled once, resolved for each call. @module */
import { configurationError } from "../common/exceptions.js";
import { compileRoute } from "../parameters/dependencies/compile.js";
import type { ParamSpec } from "../parameters/dependencies/plan.js";
import type { Callable } from "../parameters/depends.js";
import { type Params, paramsOf } from "../parameters/annotation.js";
import { PathPattern } from "../routing/path-pattern.js";

/** The most handlers that `compileHandler` remembers. The specification fixes it. */
const MEMO_SIZE = 512;

/** The result of `compileHandler`: the specs, and `true` for a handler that runs on the event loop. */
export type CompiledHandler = readonly [specs: readonly ParamSpec[], isAsync: boolean];

/** Results by their key, the one that was used last at the end. */
const memo = new Map<string, CompiledHandler>();
const identities = new WeakMap<object, number>();
let lastIdentity = 0;

/** A number for each object, so that three things can be one key. */
function identityOf(object: object): number {
  let identity = identities.get(object);
  if (identity === undefined) identities.set(object, (identity = ++lastIdentity));
  return identity;
}

const NO_PARAMS: Params = Object.freeze({});

/**
 * Compiles a handler's parameters. The last 512 results are remembered, by function, path and params.
 *
 * @param path - The pattern whose names are path parameters.
 * @param params - Names and annotations. Defaults to the params of `withParams`.
 * @returns The specs, one for each parameter, and whether the handler is an async function or generator.
 * @throws ConfigurationError when a parameter cannot work there.
 * @example
 * ```ts
 * import { compileHandler, ParamKind, t } from "tsgi";
 *
 * const handler = async ({ item_id }: { item_id: number }) => ({ item_id });
 * const [specs, isAsync] = compileHandler(handler, "/items/{item_id}", { item_id: t.Integer() });
 * specs[0]?.kind === ParamKind.PATH; // true
 * isAsync; // true
 * ```
 */
export function compileHandler(fn: Callable, path = "", params?: Params): CompiledHandler {
  if (typeof fn !== "function") throw configurationError("TSGI_HANDLER_NOT_A_FUNCTION.compile", fn);
  const declared = params ?? paramsOf(fn) ?? NO_PARAMS;
  const key = `${identityOf(fn)} ${identityOf(declared)} ${path}`;
  const compiled = memo.get(key) ?? compileEntry(fn, path, declared);
  memo.delete(key);
  memo.set(key, compiled);
  const oldest = memo.keys().next().value;
  if (memo.size > MEMO_SIZE && oldest !== undefined) memo.delete(oldest);
  return compiled;
}

function compileEntry(fn: Callable, path: string, params: Params): CompiledHandler {
  const { names } = PathPattern.parse(path, "compileHandler");
  const declared = params === paramsOf(fn) ? NO_PARAMS : params;
  const { specs, isAsync } = compileRoute({ handler: fn, role: "handler", names, params: declared }).handler;
  return Object.freeze([Object.freeze(specs), isAsync] as const);
}
