/** Descriptors as types: the value that each gives the handler, and the options that each takes. @module */
import type { UploadFile } from "../datastructures.js";
import type { OptionalSchema, Readable, Schema, SchemaOutput } from "../schema.js";

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
} as const);

/** One of the twelve kinds, 0 to 11. */
export type ParamKind = (typeof ParamKind)[keyof typeof ParamKind];

export declare const OUTPUT: unique symbol;

/** A descriptor that gives the handler a `T`. */
export interface Marker<T> {
  readonly [OUTPUT]: T;
}

/** The descriptor of a path parameter. It has no default: a path parameter is never absent. */
export interface PathMarker<T> extends Marker<T> {
  readonly in: "path";
}

/** Options of every descriptor. */
export interface SourceOptions {
  /** The name on the wire. Defaults to the parameter's own. */
  alias?: string;
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
  /** `true` gives the handler a list of all files under the name. Defaults to `false`: the last one. */
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

/** The type that a single argument gives: that of the schema, or a text's. */
export type OutputOf<Given> = Given extends SchemaShape ? SchemaOutput<Given> : string | NullOf<Given>;

/** A value that is never absent where there is a default; `undefined` is not a default. */
type WithDefault<Output, Default> = [Default] extends [undefined]
  ? Output
  : Exclude<Output, undefined> | Extract<Default, null>;

/**
 * A descriptor's function, of a schema, options, or both: without a schema a string. No two forms take the same number of
 * arguments, so that the compiler explains the one that was meant.
 */
export interface ParamFunction<Options = SourceOptions> {
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

/** The type of `Path`: without a schema the value is text, and a default is refused. */
export interface PathFunction {
  (): PathMarker<string>;
  <Given extends Schema | PathOptions>(given: Given & CheckPathOptions<Given>): PathOutput<OutputOf<Given>, Given>;
  <S extends Schema, Options extends PathOptions>(
    schema: S,
    options: Options & CheckPathOptions<Options>,
  ): PathOutput<SchemaOutput<S>, Options>;
}

/** The type of a list schema's files, or of a single one. A schema of anything is that of one. */
type FileOutput<S> = FilesOf<SchemaOutput<S>> | (S extends OptionalSchema ? undefined : never);

type FilesOf<Output> = 0 extends 1 & Output
  ? UploadFile
  : (Exclude<Output, undefined> extends readonly unknown[] ? UploadFile[] : UploadFile) | Extract<Output, undefined>;

/** A file's options without a schema: of one file, or of all under the name. */
type FilesOptions = FileOptions &
  ({ multiple?: false; default?: null } | { multiple: true; default?: null | readonly [] });

/** The type of `File`: with `multiple` the value is a list. */
export interface FileFunction {
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
