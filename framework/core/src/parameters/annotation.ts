/** Annotations: everything that a parameter can be declared with, and the functions that carry some. @module */
import { markCopy } from "../common/copies.js";
import type { BackgroundTasks } from "../http/background.js";
import type { UploadFile } from "../http/upload-file.js";
import { configurationError } from "../common/exceptions.js";
import { assertOptions, OBJECT, type OptionRules } from "../common/options.js";
import type { HTTPConnection, Request } from "../http/request.js";
import type { Response } from "../http/response/response.js";
import type { Schema, SchemaOutput } from "../schema/schema.js";
import type { WebSocket } from "../http/websocket.js";
import type { InvalidType } from "../common/messages.js";
import type { Marker, OUTPUT } from "./marker.js";
import type { AnnotationError, HandlerTakesOneObject } from "./type-errors.js";

/** The key under which a function keeps its params. */
export const PARAMS: unique symbol = Symbol.for("tsgi.params");

/** The key under which a function keeps the responses that it declares. */
export const RESPONSES: unique symbol = Symbol.for("tsgi.responses");

/** This type has no values: a `this` of this type makes a signature relevant for assignment, but never for a call. */
interface RouteOnly {
  readonly routeOnly: never;
}

/**
 * A function that carries its params. The signature is only for routes: it accepts a handler if the route's own params
 * are fewer than those attached to the handler, while a direct call is still checked against the function itself.
 */
export interface WithParams<P, R = unknown, Responses = {}> {
  readonly [PARAMS]: P;
  /** In types only, unless it declares some. */
  readonly [RESPONSES]: Responses;
  (this: RouteOnly, args: object): R;
}

/**
 * The scopes that a route and its dependencies ask of the dependency that names this class in its params.
 *
 * @example
 * ```ts
 * import { SecurityScopes } from "tsgi";
 *
 * const asked = new SecurityScopes(["items:read", "items:write"]);
 * console.log(asked.scopeString); // items:read items:write
 * ```
 */
export class SecurityScopes {
  static {
    markCopy(this);
  }

  /** Outermost first, each once. */
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[] = []) {
    this.scopes = scopes;
  }

  /** The scopes as OAuth 2.0 writes them, RFC 6749 §3.3. */
  get scopeString(): string {
    return this.scopes.join(" ");
  }
}

/** The classes whose object of this request a parameter can be. `UploadFile` says the same as `File()`. */
export type Injectable =
  | typeof UploadFile
  | typeof WebSocket
  | typeof HTTPConnection
  | typeof Request
  | typeof Response
  | typeof BackgroundTasks
  | typeof SecurityScopes
  | typeof AbortSignal;

/** The declaration of a parameter: a schema, a parameter function, or one of the classes. */
export type Annotation = Schema | Marker<unknown> | Injectable;

/** Names and annotations. */
export type Params = Record<string, Annotation>;

/** The type that a handler receives for a parameter with this annotation. */
export type AnnotationOutput<A> = A extends { readonly [OUTPUT]: infer T }
  ? T
  : A extends { static: unknown } | { readonly "~standard": unknown }
    ? SchemaOutput<A>
    : A extends new (...args: never) => infer I
      ? I
      : InvalidType;

/** Names and annotations where all are right, and the message of each that is not. */
export type CheckParams<P> = P[keyof P] extends Annotation
  ? unknown
  : { [K in keyof P]: P[K] extends Annotation ? P[K] : AnnotationError<P[K]> };

/** The same of `withParams`, whose arguments are easily swapped. */
type CheckCarried<P> = [P] extends [(...args: never) => unknown]
  ? "the params come first: withParams({ page: Query() }, async ({ page }) => …)"
  : CheckParams<P>;

/** The names in a path pattern. */
export type PathNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Rest extends ""
    ? Name
    : Name | PathNames<Rest>
  : never;

/** The values of the params, by the names that they are declared under. */
export type FromParams<P> = { [K in keyof P]: AnnotationOutput<P[K]> };

/** The argument of a function with these params. */
export type Args<P> = FromParams<P>;

/** Options of `withParams`. */
export interface WithParamsOptions<Responses = ResponseDocs> {
  /**
   * The errors that the function throws, by status, for the OpenAPI document and for typed clients. Requests do not check
   * them.
   */
  responses?: Responses;
}

const OPTIONS: OptionRules<WithParamsOptions> = { responses: OBJECT };

/**
 * Attaches params to a function, and returns the same function. Only the returned value has the type.
 *
 * @param options - `responses` declares the errors that the function throws.
 * @throws ConfigurationError if the function has other params already.
 * @example
 * ```ts
 * import { App, Depends, Query, t, withParams } from "tsgi";
 *
 * const getPage = withParams({ page: Query(t.Integer({ default: 1 })) }, async ({ page }) => ({ offset: (page - 1) * 20 }));
 * const app = new App();
 * app.get("/items", { params: { page: Depends(getPage) } }, async ({ page }) => page.offset);
 * ```
 */
export function withParams<
  const P extends CheckCarried<P>,
  F extends (args: Args<P>, ...none: HandlerTakesOneObject[]) => unknown,
  Responses extends ResponseDocs = {},
>(params: P, fn: F, options: WithParamsOptions<Responses> = {}): F & WithParams<P, ReturnType<F>, Responses> {
  if (typeof fn !== "function") throw configurationError("TSGI_INVALID_WITH_PARAMS", fn);
  assertOptions("withParams()", options, OPTIONS);
  const known = paramsOf(fn);
  const { responses } = options;
  if (known === undefined) {
    Object.defineProperties(fn, { [PARAMS]: { value: params }, [RESPONSES]: { value: responses } });
  } else if (known !== params || declaredResponsesOf(fn) !== responses) {
    throw configurationError("TSGI_WITH_PARAMS_TWICE", fn.name || "(anonymous)");
  }
  return fn as F & WithParams<P, ReturnType<F>, Responses>;
}

/** The responses that a function declares, or `undefined`. */
export function declaredResponsesOf(callable: unknown): ResponseDocs | undefined {
  return (callable as { [RESPONSES]?: ResponseDocs })[RESPONSES];
}

/** The params that a function or class carries, or `undefined`. */
export function paramsOf(callable: unknown): Params | undefined {
  const carrier = callable as { [PARAMS]?: Params; params?: Params };
  if (Object.hasOwn(carrier, PARAMS)) return carrier[PARAMS];
  return isClass(callable) ? carrier.params : carrier[PARAMS];
}

/** Tells a class, which is built with `new`: its `prototype` cannot be written, a function's can. */
export function isClass(callable: unknown): boolean {
  if (typeof callable !== "function") return false;
  return Object.getOwnPropertyDescriptor(callable, "prototype")?.writable === false && !isGeneratorFunction(callable);
}

export function isGeneratorFunction(callable: unknown): boolean {
  const tag = Object.prototype.toString.call(callable);
  return tag === "[object GeneratorFunction]" || tag === "[object AsyncGeneratorFunction]";
}

/** Tells a callable that runs on the event loop: an async function or a generator. Also true of bound ones. */
export function isAsyncFunction(callable: unknown): boolean {
  return Object.prototype.toString.call(callable) === "[object AsyncFunction]" || isGeneratorFunction(callable);
}

/** Describes a body in one media type. */
export interface MediaTypeDoc {
  /** The schema of the body. For bytes leave it out, or describe them with `t.String({ format: "binary" })`. */
  schema?: Schema;
  examples?: readonly unknown[];
}

/** A response that the document lists. */
export interface ResponseDoc {
  /** Markdown. Defaults to the status's reason phrase. */
  description?: string;
  /** The schema of its JSON body. */
  schema?: Schema;
  /** Examples of its JSON body. */
  examples?: readonly unknown[];
  /** Bodies in other media types, such as `{ "text/csv": {} }`. */
  content?: Readonly<Record<string, MediaTypeDoc>>;
  headers?: Readonly<Record<string, { description?: string; schema?: Schema }>>;
}

/** Responses by status: one, all that begin with a digit, or every one that is not listed. */
export type ResponseDocs = Readonly<Partial<Record<number | `${1 | 2 | 3 | 4 | 5}XX` | "default", ResponseDoc>>>;
