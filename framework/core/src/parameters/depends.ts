/** Dependencies: parameters that are the result of another callable. @module */
import { markCopy } from "../common/copies.js";
import { configurationError } from "../common/exceptions.js";
import { assertOptions, FLAG, FUNCTION, LIST, oneOf, type OptionRules } from "../common/options.js";
import type { InvalidType } from "../common/messages.js";
import type { PARAMS, Params, RESPONSES } from "./annotation.js";
import type { Marker, OUTPUT } from "./marker.js";
import type { DependencyError } from "./type-errors.js";

/** The value that a dependency yields, resolves to, or is. */
type Yielded<R> = R extends AsyncGenerator<infer Y, unknown, unknown> | Generator<infer Y, unknown, unknown>
  ? Y
  : Awaited<R>;

type DependencyResult<C> = C extends new (...args: never) => infer I
  ? I
  : C extends (...args: never) => infer R
    ? Yielded<R>
    : InvalidType;

/** The key of a dependency's own params, which are there in types only. */
export declare const CARRIED: unique symbol;

/** The parameter function of a dependency that returns a `T`, with its params and its declared errors. */
export interface DependsMarkerOf<T, P, Responses = {}> extends Marker<T> {
  readonly [CARRIED]: P;
  readonly [RESPONSES]: Responses;
}

/** The params that a dependency carries. */
type CarriedParams<C> = C extends { readonly [PARAMS]: infer P } | { readonly params: infer P } ? P : {};

/** The errors that a dependency declares. */
type CarriedResponses<C> = C extends { readonly [RESPONSES]: infer Responses } ? Responses : {};

/** The argument of `Depends`: a callable without arguments, or one that carries its params. */
export type Dependency =
  | (() => unknown)
  | (new () => unknown)
  | (((args: never) => unknown) & { readonly [PARAMS]: unknown })
  | ((new (args: never) => unknown) & { readonly params: Params });

/** The value of an optional dependency for a request without credentials. */
type Absent<Optional> = Optional extends true ? null : never;

/**
 * `unknown` for a valid dependency, otherwise the problem with it. A generator is not known yet while it is inferred.
 */
type CheckDependency<C> = [C] extends [Dependency] ? unknown : unknown extends C ? Dependency : DependencyError<C>;

/** The life of a dependency's result. */
export type DependencyScope = "request" | "function" | "app";

/** Checks a value: fails if it throws, rejects, or returns `false`. */
export type Check<Value = never> = (value: Value) => unknown;

/** Options of `Depends` for a function that is called once per process. */
export interface ApplicationOptions<Value = never> {
  /** Called once when the application starts, and cleaned up when it stops. */
  scope: "app";
  /** Called for readiness (`health` of `tsgi/health`): fails if it throws, rejects, or returns `false`. */
  check?: Check<Value>;
  useCache?: true;
  optional?: false;
}

/** Options of `Depends` for a function that is called for each request. */
export interface DependsOptions<Optional extends boolean = boolean> {
  /** `true` shares the result among all who ask for it in one request. Defaults to `true`. */
  useCache?: boolean;
  /**
   * When a generator is resumed: `"request"`, after the response and its background tasks, or `"function"`, before the
   * response is sent. Defaults to `"request"`.
   */
  scope?: "request" | "function";
  /**
   * With `true`, the value is `null` and the dependency is not called if the request has no credentials for any
   * security scheme that the dependency needs. Credentials that are empty, repeated or malformed are rejected with 401.
   * Defaults to `false`.
   */
  optional?: Optional;
  check?: undefined;
}

/** Any function or class, as it is called once its params are resolved. */
export type Callable = ((args: never) => unknown) | (new (args: never) => unknown);

/** A function of the application, which is called with the arguments that its `params` describe. */
export const functionOf = (callable: Callable) => callable as (args: object) => unknown;

const SECURITY_OPTIONS = { useCache: FLAG, scope: oneOf("function", "request"), optional: FLAG, scopes: LIST };
const DEPENDS_OPTIONS: OptionRules<DependsOptions> = {
  useCache: FLAG,
  scope: oneOf("app", "function", "request"),
  optional: FLAG,
  check: FUNCTION,
};

/** The options of `Depends` and `Security` together. */
interface MarkerOptions {
  useCache?: boolean;
  scope?: DependencyScope;
  optional?: boolean;
  check?: Check;
  scopes?: readonly string[];
}

/** An option that has no meaning with the scope, or `null`. */
function findMisplaced({ scope, useCache, optional, check }: MarkerOptions): string | null {
  if (scope !== "app") return check === undefined ? null : "check";
  if (useCache === false) return "useCache: false";
  return optional ? "optional: true" : null;
}

/** @throws ConfigurationError for options with which a transactional dependency would not be one for the whole request. */
function assertTransactional(name: string, { scope, useCache, optional }: MarkerOptions): void {
  if (scope !== undefined) throw configurationError("TSGI_TRANSACTIONAL_DEPENDENCY.options", name, `scope: "${scope}"`);
  if (useCache === false) throw configurationError("TSGI_TRANSACTIONAL_DEPENDENCY.options", name, "useCache: false");
  if (optional) throw configurationError("TSGI_TRANSACTIONAL_DEPENDENCY.options", name, "optional: true");
}

/** Created by `Depends()`. */
export class DependsMarker {
  static {
    markCopy(this);
  }

  declare readonly [OUTPUT]: never;
  declare readonly [CARRIED]: never;
  declare readonly [RESPONSES]: never;
  readonly callable: Callable;
  readonly useCache: boolean;
  readonly scope: DependencyScope;
  /** `true` if the value is `null` for a request without credentials. */
  readonly isOptional: boolean;
  readonly check: Check | null;
  /** The scopes that `Security` asks for. */
  readonly scopes: readonly string[];

  constructor(callable: unknown, options: MarkerOptions, name: string) {
    if (typeof callable !== "function") throw configurationError("TSGI_DEPENDENCY_NOT_CALLABLE", name, callable);
    assertOptions(`${name}()`, options, name === "Security" ? SECURITY_OPTIONS : DEPENDS_OPTIONS);
    const misplaced = findMisplaced(options);
    if (misplaced !== null) throw configurationError("TSGI_DEPENDENCY_OPTIONS", misplaced);
    if (isTransactional(callable)) assertTransactional(callable.name, options);
    this.callable = callable as Callable;
    this.useCache = options.useCache ?? true;
    this.scope = options.scope ?? "request";
    this.isOptional = options.optional ?? false;
    this.check = options.check ?? null;
    this.scopes = Object.freeze([...(options.scopes ?? [])]);
  }
}

/** Tells if a value was returned by `Depends` or `Security`. */
export function isDependency(value: unknown): boolean {
  return value instanceof DependsMarker;
}

/**
 * The result of another callable. It is called once for each request, however many ask for it; with `scope: "app"` once
 * for each process, when the application starts.
 *
 * @example
 * ```ts
 * import { App, Depends, Query, t, withParams } from "tsgi";
 *
 * const getPage = withParams({ page: Query(t.Integer({ minimum: 1 }), { default: 1 }) }, async ({ page }) => ({
 *   offset: (page - 1) * 20,
 * }));
 * const app = new App();
 * app.get("/items", { params: { window: Depends(getPage) } }, async ({ window }) => window);
 * ```
 */
export function Depends<C extends CheckDependency<C>, Optional extends boolean = false>(
  callable: C,
  options?: DependsOptions<Optional> | ApplicationOptions<DependencyResult<C>>,
): DependsMarkerOf<DependencyResult<C> | Absent<Optional>, CarriedParams<C>, CarriedResponses<C>>;
export function Depends(callable: unknown, options: MarkerOptions = {}): DependsMarker {
  return new DependsMarker(callable, options, "Depends");
}

/**
 * A dependency that gets, through `SecurityScopes`, the scopes that are asked for here and on the way here.
 *
 * @example
 * ```ts
 * import { App, Security, SecurityScopes, withParams } from "tsgi";
 *
 * const getUser = withParams({ asked: SecurityScopes }, async ({ asked }) => ({ scopes: asked.scopes }));
 * const app = new App();
 * const user = Security(getUser, { scopes: ["items:read"] });
 * app.get("/items", { params: { user } }, async ({ user }) => user.scopes);
 * ```
 */
export function Security<C extends CheckDependency<C>, Optional extends boolean = false>(
  callable: C,
  options?: DependsOptions<Optional> & { scopes?: readonly string[] },
): DependsMarkerOf<DependencyResult<C> | Absent<Optional>, CarriedParams<C>, CarriedResponses<C>>;
export function Security(callable: unknown, options: MarkerOptions = {}): DependsMarker {
  return new DependsMarker(callable, options, "Security");
}

const transactional = new WeakSet<object>();

/** Marks a dependency as transactional. */
export function markTransactional(callable: object): void {
  transactional.add(callable);
}

/** Tells if a dependency is transactional. */
export function isTransactional(callable: object): boolean {
  return transactional.has(callable);
}
