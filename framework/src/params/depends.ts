/** Dependencies: parameters that are the result of another callable. @module */
import { configurationError } from "../exceptions.js";
import { assertOptions, FLAG, LIST, oneOf, type OptionRules } from "../options.js";
import type { Mistaken } from "../wording.js";
import type { PARAMS, Params } from "./annotation.js";
import type { Marker, OUTPUT } from "./marker.js";
import type { DependencyMistake } from "./mistakes.js";

/** What a dependency gives: what it yields, resolves to, or is. */
type Yielded<R> = R extends AsyncGenerator<infer Y, unknown, unknown> | Generator<infer Y, unknown, unknown>
  ? Y
  : Awaited<R>;

type DependencyResult<C> = C extends new (...args: never) => infer I
  ? I
  : C extends (...args: never) => infer R
    ? Yielded<R>
    : Mistaken;

/** What `Depends` takes: a callable without arguments, or one that carries its params. */
export type Dependency =
  | (() => unknown)
  | (new () => unknown)
  | (((args: never) => unknown) & { readonly [PARAMS]: unknown })
  | ((new (args: never) => unknown) & { readonly params: Params });

/** Nothing to say of a dependency, else what is wrong with it. A generator is not known yet while it is inferred. */
type CheckDependency<C> = [C] extends [Dependency] ? unknown : unknown extends C ? Dependency : DependencyMistake<C>;

/** What `Depends` takes beside its callable. */
export interface DependsOptions {
  /** Whether the result is shared by all who ask for it in one request. Defaults to `true`. */
  useCache?: boolean;
  /**
   * When a generator is resumed: `"request"`, after the response and its background tasks, or `"function"`, before the
   * response is sent. Defaults to `"request"`.
   */
  scope?: "request" | "function";
}

/** Any function or class, as it is called once its params are resolved. */
export type Callable = ((args: never) => unknown) | (new (args: never) => unknown);

const DEPENDS_OPTIONS: OptionRules<DependsOptions> = { useCache: FLAG, scope: oneOf("function", "request") };

/** The descriptor of a dependency. */
export class DependsMarker {
  declare readonly [OUTPUT]: never;
  readonly callable: Callable;
  readonly useCache: boolean;
  readonly scope: "request" | "function";
  /** The scopes that `Security` asks for. */
  readonly scopes: readonly string[];

  constructor(callable: unknown, options: DependsOptions & { scopes?: readonly string[] }, name: string) {
    if (typeof callable !== "function") {
      throw configurationError("TSGI_DEPENDENCY_NOT_CALLABLE", name, callable);
    }
    assertOptions(`${name}()`, options, name === "Security" ? { ...DEPENDS_OPTIONS, scopes: LIST } : DEPENDS_OPTIONS);
    this.callable = callable as Callable;
    this.useCache = options.useCache ?? true;
    this.scope = options.scope ?? "request";
    this.scopes = Object.freeze([...(options.scopes ?? [])]);
  }
}

/**
 * The result of another callable. It is called once for each request, however many ask for it.
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
export function Depends<C extends CheckDependency<C>>(
  callable: C,
  options?: DependsOptions,
): Marker<DependencyResult<C>>;
export function Depends(callable: unknown, options: DependsOptions = {}): DependsMarker {
  return new DependsMarker(callable, options, "Depends");
}

/** A dependency that is told, through `SecurityScopes`, which scopes are asked for here and on the way here. */
export function Security<C extends CheckDependency<C>>(
  callable: C,
  options?: DependsOptions & { scopes?: readonly string[] },
): Marker<DependencyResult<C>>;
export function Security(
  callable: unknown,
  options: DependsOptions & { scopes?: readonly string[] } = {},
): DependsMarker {
  return new DependsMarker(callable, options, "Security");
}
