/** The descriptors of parameters: where each comes from, and how its type reaches the handler. @module */
import type { BackgroundTasks } from "./background.js";
import type { UploadFile } from "./datastructures.js";
import { configurationError } from "./exceptions.js";
import { ANYTHING, assertOptions, FLAG, LIST, oneOf, type OptionRule, type OptionRules, TEXT } from "./options.js";
import type { Marker, OUTPUT, PathMarker, SourceOptions } from "./params/marker.js";
import type { AnnotationMistake, DependencyMistake, HandlerTakesOneObject } from "./params/mistakes.js";
import type { Request } from "./request.js";
import type { Response } from "./response.js";
import { isSchema, type OptionalSchema, type Readable, type Schema, type SchemaOutput } from "./schema.js";
import type { WebSocket } from "./websocket.js";
import type { Mistaken } from "./wording.js";

export type { Marker, PathMarker, SourceOptions } from "./params/marker.js";
export type { GlobalResponse, HandlerTakesOneObject } from "./params/mistakes.js";

/** Where a parameter comes from: the `kind` of a compiled parameter spec. */
export const ParamKind = Object.freeze({
  PATH: 0,
  QUERY: 1,
  HEADER: 2,
  COOKIE: 3,
  BODY: 4,
  FORM: 5,
  FILE: 6,
  DEPENDS: 7,
  REQUEST: 8,
  WEBSOCKET: 9,
  BACKGROUND: 10,
  RESPONSE: 11,
} as const);

/** One of the twelve kinds, 0 to 11. */
export type ParamKind = (typeof ParamKind)[keyof typeof ParamKind];

/** The kinds whose values come as text or as a body, each read by one descriptor. */
export type SourceKind = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** What `Body` takes beside its schema. */
export interface BodyOptions extends SourceOptions {
  /** Whether a single body parameter is a member of an object all the same. Defaults to `false`. */
  embed?: boolean;
}

/** What `File` takes. */
export interface FileOptions extends SourceOptions {
  /** Whether the handler gets a list of all files under the name. Defaults to `false`: the last one. */
  multiple?: boolean;
  /** The types that a file may say it has, such as `image/png` or `image/*`. Defaults to any. */
  mediaTypes?: readonly string[];
}

/** What a schema is told from options by, of which TypeBox's own type has an index signature that takes any. */
type SchemaShape = { readonly static: unknown } | { readonly "~standard": unknown };

/** The options that there are not, of an argument that is no schema. */
type CheckOptions<Given, Options> = Given extends SchemaShape
  ? unknown
  : { [K in Exclude<keyof Given, keyof Options | "default">]: `there is no option ${K & string}` };

/** The type that a single argument gives: that of the schema, or a text's. */
type OutputOf<Given> = Given extends SchemaShape ? SchemaOutput<Given> : string | NullOf<Given>;

type NullOf<Given> = Given extends { default: null } ? null : never;

/** A value that is never absent where there is a default; `undefined` is no default. */
type WithDefault<Output, Default> = [Default] extends [undefined]
  ? Output
  : Exclude<Output, undefined> | Extract<Default, null>;

/** The type of a list schema's files, or of a single one. A schema of anything is that of one. */
type FileOutput<S> = FilesOf<SchemaOutput<S>> | (S extends OptionalSchema ? undefined : never);

type FilesOf<Output> = 0 extends 1 & Output
  ? UploadFile
  : (Exclude<Output, undefined> extends readonly unknown[] ? UploadFile[] : UploadFile) | Extract<Output, undefined>;

/** A file's options without a schema: of one file, or of all under the name. */
type FilesOptions = FileOptions &
  ({ multiple?: false; default?: null } | { multiple: true; default?: null | readonly [] });

/** The function `File`. No two forms take the same number of arguments: the compiler explains the one that was meant. */
export interface FileSource {
  (): Marker<UploadFile>;
  <Given extends Schema | FilesOptions>(
    given: Given & CheckOptions<Given, FileOptions>,
  ): Marker<
    Given extends SchemaShape
      ? FileOutput<Given>
      : (Given extends { multiple: true } ? UploadFile[] : UploadFile) | NullOf<Given>
  >;
  <S extends Schema, Default extends null = never>(
    schema: S,
    options: FileOptions & { default?: Default },
  ): Marker<FileOutput<S> | Default>;
}

/** Every option that a descriptor of any source may have. */
export interface AnySourceOptions extends BodyOptions, FileOptions {
  default?: unknown;
}

/** A descriptor's function, of a schema, options, or both: without a schema a string. */
export interface Source<Options = SourceOptions> {
  (): Marker<string>;
  <Given extends Schema | (Options & { default?: string | null })>(
    given: Given & CheckOptions<Given, Options>,
  ): Marker<OutputOf<Given>>;
  <S extends Schema, const Default extends Readable<SchemaOutput<S>> | null | undefined = undefined>(
    schema: S,
    options: Options & { default?: Default },
  ): Marker<WithDefault<SchemaOutput<S>, Default>>;
}

/** The options of `Path`, of which none is a default: a path parameter is never absent. */
interface PathOptions extends SourceOptions {
  default?: unknown;
}

interface UseQueryForAnOptionalValue {
  readonly useQueryForAnOptionalValue: never;
}

type CheckPathOptions<Given> = Given extends SchemaShape
  ? unknown
  : CheckOptions<Given, SourceOptions> & { default?: UseQueryForAnOptionalValue };

/** With an alias the name in the pattern is another, which registration alone can check. */
type PathOutput<Output, Options> = Options extends { alias: string } ? Marker<Output> : PathMarker<Output>;

/** The function `Path`. */
export interface PathSource {
  (): PathMarker<string>;
  <Given extends Schema | PathOptions>(given: Given & CheckPathOptions<Given>): PathOutput<OutputOf<Given>, Given>;
  <S extends Schema, Options extends PathOptions>(
    schema: S,
    options: Options & CheckPathOptions<Options>,
  ): PathOutput<SchemaOutput<S>, Options>;
}

/** The descriptor of a value that comes from the request. */
export class SourceMarker {
  /** Told apart in types only. */
  declare readonly in: "path";
  declare readonly [OUTPUT]: never;
  readonly kind: SourceKind;
  /** `null`: text as it comes. */
  readonly schema: Schema | null;
  readonly options: Readonly<AnySourceOptions>;

  constructor(kind: SourceKind, schema: Schema | null, options: Readonly<AnySourceOptions>) {
    this.kind = kind;
    this.schema = schema;
    this.options = options;
  }
}

/** The names of the options of every descriptor; those of one alone come beside them. */
const SOURCE_OPTIONS: OptionRules<SourceOptions & { default: unknown }> = {
  default: ANYTHING,
  alias: TEXT,
  description: TEXT,
  examples: LIST,
  deprecated: FLAG,
  includeInSchema: FLAG,
};

function createSource(kind: SourceKind, name: string, own: Readonly<Record<string, OptionRule>> = {}) {
  const rules = { ...SOURCE_OPTIONS, ...own };
  return (first?: unknown, second?: unknown): SourceMarker => {
    const schema = isSchema(first) ? first : null;
    const given = schema ? second : first;
    const options = given === undefined ? {} : given;
    if (typeof options !== "object" || options === null || (schema === null && second !== undefined)) {
      throw configurationError("TSGI_INVALID_DESCRIPTOR", name, first);
    }
    if (kind === ParamKind.PATH && "default" in options) {
      throw configurationError("TSGI_PATH_PARAMETER_DEFAULT");
    }
    assertOptions(`${name}()`, options, rules);
    return new SourceMarker(kind, schema, options);
  };
}

/**
 * A `{name}` of the path pattern.
 *
 * @example
 * ```ts
 * import { App, Path, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/items/{item_id}", { params: { item_id: Path(t.Integer({ minimum: 1 })) } }, async ({ item_id }) => ({
 *   item_id,
 * }));
 * ```
 */
export const Path: PathSource = createSource(ParamKind.PATH, "Path");

/**
 * A value of the query string. With an object schema each property is read by its own name. `default: null` makes it
 * optional.
 *
 * @example
 * ```ts
 * import { App, Query, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/search", { params: { q: Query({ default: null }), tag: Query(t.Array(t.String()), { default: [] }) } }, async ({ q, tag }) => ({
 *   q,
 *   tag,
 * }));
 * ```
 */
export const Query: Source = createSource(ParamKind.QUERY, "Query");

/** A header. The parameter `userAgent` or `user_agent` reads `user-agent`. */
export const Header: Source = createSource(ParamKind.HEADER, "Header");

/** A cookie. */
export const Cookie: Source = createSource(ParamKind.COOKIE, "Cookie");

/** The JSON body; one of several is a member of the body's object. Needs `Content-Type: application/json`. */
export const Body: Source<BodyOptions> = createSource(ParamKind.BODY, "Body", { embed: FLAG });

/** A field of a form, urlencoded or multipart. A field left blank counts as absent, as browsers send every field. */
export const Form: Source = createSource(ParamKind.FORM, "Form");

/**
 * A file of a multipart form, as an {@link UploadFile}; with `multiple: true` a list of all files under the name. A list
 * schema says the same, and how many there may be. A file input left blank counts as absent.
 *
 * @example
 * ```ts
 * import { App, File, t } from "tsgi";
 *
 * const app = new App();
 * app.post(
 *   "/photos",
 *   { params: { cover: File({ mediaTypes: ["image/*"] }), photos: File({ multiple: true, default: [] }) } },
 *   async ({ cover, photos }) => ({ cover: cover.filename, photos: photos.length }),
 * );
 * ```
 */
export const File: FileSource = createSource(ParamKind.FILE, "File", { multiple: FLAG, mediaTypes: LIST });

/** The key under which a function keeps its params. */
export const PARAMS: unique symbol = Symbol.for("tsgi.params");

/** Nobody is one: a `this` of this type lets a signature count for assignment, and never for a call. */
interface RouteOnly {
  readonly routeOnly: never;
}

/**
 * A function that carries its params. The signature is for routes alone: it lets a handler stand where the route's own
 * params are fewer than those that it carries, while a direct call is still checked against the function itself.
 */
export interface WithParams<P, R = unknown> {
  readonly [PARAMS]: P;
  (this: RouteOnly, args: object): R;
}

/** The classes whose object of this request a parameter can be. `UploadFile` says the same as `File()`. */
export type Injectable =
  | typeof UploadFile
  | typeof WebSocket
  | typeof Request
  | typeof Response
  | typeof BackgroundTasks
  | typeof SecurityScopes;

/** What a parameter can be declared with: a schema, a descriptor, or one of the classes. */
export type Annotation = Schema | Marker<unknown> | Injectable;

/** Names and annotations. */
export type Params = Record<string, Annotation>;

/** The type of the value that an annotation gives. */
export type AnnotationOutput<A> = A extends { readonly [OUTPUT]: infer T }
  ? T
  : A extends { static: unknown } | { readonly "~standard": unknown }
    ? SchemaOutput<A>
    : A extends new (...args: never) => infer I
      ? I
      : Mistaken;

/** Names and annotations where all are right, and the message of each that is not. */
export type CheckParams<P> = P[keyof P] extends Annotation
  ? unknown
  : { [K in keyof P]: P[K] extends Annotation ? P[K] : AnnotationMistake<P[K]> };

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

/** What a function with these params is called with. */
export type Args<P> = FromParams<P>;

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

/** The scopes that a route and its dependencies ask of the dependency that names this class in its params. */
export class SecurityScopes {
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

/**
 * Attaches params to a function and gives the same function back; the type is carried by what is given back.
 *
 * @throws ConfigurationError when the function carries other params already.
 */
export function withParams<
  const P extends CheckCarried<P>,
  F extends (args: Args<P>, ...none: HandlerTakesOneObject[]) => unknown,
>(params: P, fn: F): F & WithParams<P, ReturnType<F>> {
  if (typeof fn !== "function") {
    throw configurationError("TSGI_INVALID_WITH_PARAMS", fn);
  }
  const known = paramsOf(fn);
  if (known === undefined) Object.defineProperty(fn, PARAMS, { value: params });
  else if (known !== params) {
    throw configurationError("TSGI_WITH_PARAMS_TWICE", fn.name || "(anonymous)");
  }
  return fn as F & WithParams<P, ReturnType<F>>;
}

/** The params that a function or class carries, or `undefined`. */
export function paramsOf(callable: unknown): Params | undefined {
  const carrier = callable as { [PARAMS]?: Params; params?: Params };
  if (Object.hasOwn(carrier, PARAMS)) return carrier[PARAMS];
  return isClass(callable) ? carrier.params : (callable as { [PARAMS]?: Params })[PARAMS];
}

/** Whether a callable is built with `new`: a class's `prototype` cannot be written, a function's can. */
export function isClass(callable: unknown): boolean {
  if (typeof callable !== "function") return false;
  return Object.getOwnPropertyDescriptor(callable, "prototype")?.writable === false && !isGeneratorFunction(callable);
}

/** Whether calling it gives a generator. */
export function isGeneratorFunction(callable: unknown): boolean {
  const tag = Object.prototype.toString.call(callable);
  return tag === "[object GeneratorFunction]" || tag === "[object AsyncGeneratorFunction]";
}

/** Whether it runs on the event loop: an async function or a generator. Also true of bound ones. */
export function isAsyncFunction(callable: unknown): boolean {
  return Object.prototype.toString.call(callable) === "[object AsyncFunction]" || isGeneratorFunction(callable);
}
