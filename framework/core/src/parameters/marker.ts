/** Parameter functions as types: the value that each passes to the handler, and its options. @module */
import type { UploadFile } from "../http/upload-file.js";
import type { OptionalSchema, Readable, Schema, SchemaOutput } from "../schema/schema.js";

/** The source of a parameter: the `kind` of a compiled parameter spec. */
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
  SIGNAL: 12,
} as const);

/** One of the thirteen kinds, 0 to 12. */
export type ParamKind = (typeof ParamKind)[keyof typeof ParamKind];

export declare const OUTPUT: unique symbol;

/** A parameter function that passes a `T` to the handler. */
export interface Marker<T> {
  readonly [OUTPUT]: T;
}

/** The key of the facts for clients, which exists only in types. */
export declare const SENT: unique symbol;

/** The place of a parameter in a request. A `member` is one of the JSON body's object, by `embed`. */
export type Place = "path" | "query" | "header" | "cookie" | "body" | "member" | "form" | "file";

/**
 * The parameter function of a value that is read from the request.
 *
 * @typeParam T - The value that the handler gets.
 * @typeParam Given - The only argument: a schema or options.
 * @typeParam Default - The option of that name, next to a schema.
 * @typeParam Alias - The option of that name, next to a schema.
 */
export interface SourceMarkerOf<
  T,
  In extends Place,
  Given = undefined,
  Default = undefined,
  Alias = undefined,
> extends Marker<T> {
  readonly [SENT]: {
    readonly in: In;
    readonly given: Given;
    readonly default: Default;
    readonly alias: Alias;
  };
}

/** The parameter function of text, without arguments: shorter in messages. */
export interface TextMarker<In extends Place> extends Marker<string> {
  readonly [SENT]: {
    readonly in: In;
    readonly given: undefined;
    readonly default: undefined;
    readonly alias: undefined;
  };
}

/** The parameter function of a path parameter. It has no default: a path parameter is never absent. */
export interface PathMarker<T, Given = undefined> extends SourceMarkerOf<T, "path", Given> {
  readonly in: "path";
}

/** Options of every parameter function. */
export interface SourceOptions {
  /** The name on the wire. Defaults to the parameter's own. */
  alias?: string | undefined;
  description?: string;
  examples?: readonly unknown[];
  deprecated?: boolean;
  /** `false` leaves it out of the document. Defaults to `true`. */
  includeInSchema?: boolean;
}

/** Options of `Body`. */
export interface BodyOptions extends SourceOptions {
  /** `true` makes a single body parameter a member of an object. Defaults to `false`. */
  embed?: boolean;
}

/** Options of `File`. */
export interface FileOptions extends SourceOptions {
  /** With `true`, the handler gets an array of all files under the name. Defaults to `false`: the last one. */
  multiple?: boolean;
  /** The media types that a file may declare, such as `image/png` or `image/*`. Defaults to any. */
  mediaTypes?: readonly string[];
}

/** Tells a schema from options: TypeBox's own type has an index signature that accepts any. */
export type SchemaShape = { readonly static: unknown } | { readonly "~standard": unknown };

/** Refuses unknown options, of an argument that is not a schema. */
export type CheckOptions<Given, Options> = Given extends SchemaShape
  ? unknown
  : { [K in Exclude<keyof Given, keyof Options | "default">]: `unknown option ${K & string}` };

type NullOf<Given> = Given extends { default: null } ? null : never;

/**
 * The only argument: a schema, or options without unknown names. An intersection with the check would lose the name of
 * a schema's type, without which a declaration of the result cannot be written. To look for unknown names before they
 * are listed saves one with options 12 instantiations.
 */
type CheckGiven<Given, Options> = [Given] extends [SchemaShape]
  ? Given
  : keyof Given extends keyof Options | "default"
    ? Given
    : Given & CheckOptions<Given, Options>;

/** The type of a single argument: the type of the schema, or a string. */
export type OutputOf<Given> = Given extends SchemaShape
  ? SchemaOutput<Given>
  : Given extends { default: null }
    ? string | null
    : string;

/** A value that is never absent if there is a default; `undefined` is not a default. */
type WithDefault<Output, Default> = [Default] extends [undefined]
  ? Output
  : Exclude<Output, undefined> | Extract<Default, null>;

/** Replaces a missing schema. */
interface NoSchema {
  readonly noSchema: never;
}

/** A union that has a name is not instantiated: in the signature itself it costs a parameter function 3 instantiations. */
type SchemaOrNone = Schema | NoSchema;

/** Options without a schema: the value is text. */
interface TextOptions<Default, Alias extends string | undefined> extends SourceOptions {
  default?: Default;
  /** The name on the wire. Defaults to the parameter's own. */
  alias?: Alias;
}

/** An only argument: a schema, or options. An intersection with the schema would lose the name of its type. */
type GivenOf<S, Default, Alias extends string | undefined> = [S] extends [SchemaShape]
  ? S
  : TextOptions<Default, Alias>;

type MarkerOf<S, In extends Place, Default, Alias> = [S] extends [SchemaShape]
  ? SourceMarkerOf<SchemaOutput<S>, In, S>
  : SourceMarkerOf<string | Extract<Default, null>, In, undefined, Default, Alias>;

/**
 * A parameter function, of a schema, options, or both: without a schema a string. No two forms take the same number of
 * arguments, so that the compiler explains the one that was meant. Options are inferred value by value: an object type is a
 * new one for each call, and costs a route 45 instantiations.
 */
export interface ParamFunction<In extends Place> {
  (): TextMarker<In>;
  <
    S extends SchemaOrNone,
    const Default extends string | null | undefined = undefined,
    const Alias extends string | undefined = undefined,
  >(
    given: GivenOf<S, Default, Alias>,
  ): MarkerOf<S, In, Default, Alias>;
  <
    S extends Schema,
    const Default extends Readable<SchemaOutput<S>> | null | undefined = undefined,
    const Alias extends string | undefined = undefined,
  >(
    schema: S,
    options: SourceOptions & { default?: Default; alias?: Alias },
  ): SourceMarkerOf<WithDefault<SchemaOutput<S>, Default>, In, S, Default, Alias>;
}

/** The type of `Body`, with `embed` as the place of a member. */
export interface BodyFunction {
  (): TextMarker<"body">;
  <const Given extends Schema | (BodyOptions & { default?: string | null })>(
    given: CheckGiven<Given, BodyOptions>,
  ): SourceMarkerOf<OutputOf<Given>, Given extends { embed: true } ? "member" : "body", Given>;
  <
    S extends Schema,
    const Default extends Readable<SchemaOutput<S>> | null | undefined = undefined,
    const Embed extends boolean = false,
  >(
    schema: S,
    options: BodyOptions & { default?: Default; embed?: Embed },
  ): SourceMarkerOf<WithDefault<SchemaOutput<S>, Default>, Embed extends true ? "member" : "body", S, Default>;
}

/** The options of `Path`, without a default: a path parameter is never absent. */
interface PathOptions extends SourceOptions {
  default?: unknown;
}

interface UseQueryForAnOptionalValue {
  readonly useQueryForAnOptionalValue: never;
}

type CheckPathOptions<Given> = Given extends SchemaShape
  ? unknown
  : CheckOptions<Given, SourceOptions> & { default?: UseQueryForAnOptionalValue };

/** With an alias, the name in the pattern differs, which only registration can check. */
type PathOutput<Output, Given, Options> = Options extends { alias: infer Alias extends string }
  ? SourceMarkerOf<Output, "path", Given, undefined, Alias>
  : PathMarker<Output, Given>;

/** The type of `Path`: without a schema the value is text, and a default is refused. */
export interface PathFunction {
  (): PathMarker<string>;
  <const Given extends Schema | PathOptions>(
    given: [Given] extends [SchemaShape] ? Given : Given & CheckPathOptions<Given>,
  ): PathOutput<OutputOf<Given>, Given, Given>;
  <S extends Schema, const Options extends PathOptions>(
    schema: S,
    options: Options & CheckPathOptions<Options>,
  ): PathOutput<SchemaOutput<S>, S, Options>;
}

/** The type of a list schema's files, or of a single one. A schema of any value is a schema too. */
type FileOutput<S> = FilesOf<SchemaOutput<S>> | (S extends OptionalSchema ? undefined : never);

type FilesOf<Output> = 0 extends 1 & Output
  ? UploadFile
  : (Exclude<Output, undefined> extends readonly unknown[] ? UploadFile[] : UploadFile) | Extract<Output, undefined>;

/** A file's options without a schema: of one file, or of all under the name. */
type FilesOptions = FileOptions &
  ({ multiple?: false; default?: null } | { multiple: true; default?: null | readonly [] });

/** The type of `File`: with `multiple` the value is a list. */
export interface FileFunction {
  (): SourceMarkerOf<UploadFile, "file">;
  <const Given extends Schema | FilesOptions>(
    given: CheckGiven<Given, FileOptions>,
  ): SourceMarkerOf<
    Given extends SchemaShape
      ? FileOutput<Given>
      : (Given extends { multiple: true } ? UploadFile[] : UploadFile) | NullOf<Given>,
    "file",
    Given
  >;
  <S extends Schema, Default extends null = never, const Alias extends string | undefined = undefined>(
    schema: S,
    options: FileOptions & { default?: Default; alias?: Alias },
  ): SourceMarkerOf<FileOutput<S> | Default, "file", S, Default, Alias>;
}
