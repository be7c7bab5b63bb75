/** The argument of a call, made of the params of its route. @module */
import type { UploadFile } from "../http/upload-file.js";
import type { CARRIED } from "../parameters/depends.js";
import type { PARAMS } from "../parameters/annotation.js";
import type { Place, SchemaShape, SENT } from "../parameters/marker.js";
import type { MayBeAbsent, Sent } from "./json-types.js";

/** One value of a request, by its place and name. */
type Member<In extends string, Name extends string, Value, IsOptional> = IsOptional extends true
  ? { [I in In]: { [N in Name]?: Value } }
  : { [I in In]: { [N in Name]: Value } };

/**
 * The members of a request that params ask for, by the names of the params. The indexed type has no name: the compiler
 * distinguishes unions by their names as well, and would compute the rest for each route instead of for each union.
 */
type Members<P, Names> = { [K in keyof P]: MemberOf<K & string, P[K], Names> };

/** Params whose type has no names, such as `Params` itself, have no effect for a client. */
type MemberOf<K extends string, A, Names> = string extends K
  ? never
  : A extends {
        readonly [SENT]: { in: infer In extends Place; given: infer Given; default: infer Default; alias: infer Alias };
      }
    ? SourceMember<In, WireName<In, K, Given, Alias>, Given, MayLack<Given, Default>>
    : A extends SchemaShape
      ? SchemaMember<K, A, Names>
      : A extends { readonly [CARRIED]: infer P }
        ? Members<P, Names>[keyof P]
        : A extends typeof UploadFile
          ? { file: { [N in K]: Blob } }
          : never;

/** A schema without a parameter function: by its name in the path, by its shape the body, else in the query. */
type SchemaMember<K extends string, S, Names> = K extends Names
  ? { path: { [N in K]: Written<Sent<S>> } }
  : IsStruct<Sent<S>> extends true
    ? Member<"body", K, Sent<S>, MayLack<S, undefined>>
    : Member<"query", K, Written<Sent<S>>, MayLack<S, undefined>>;

type IsStruct<T> = T extends readonly (infer Item)[]
  ? IsStruct<Item>
  : T extends object
    ? true
    : T extends null
      ? never
      : false;

/** Tells a value that may be left out, by its schema or the option `default`. */
type MayLack<Given, Default> = [Default] extends [undefined] ? (Given extends MayBeAbsent ? true : false) : true;

/** An object schema outside of the body is read property by property. Without a schema the value is text. */
type SourceMember<In extends Place, Name extends string, Given, Lacks> = In extends "file"
  ? Member<In, Name, FilesOf<Given>, Lacks>
  : Given extends SchemaShape
    ? In extends "body" | "member"
      ? Member<In, Name, Sent<Given>, Lacks>
      : HasFields<Given> extends true
        ? { [I in In]: Fields<In, Exclude<Sent<Given>, undefined>> }
        : Member<In, Name, Written<Sent<Given>>, Lacks>
    : Member<In, Name, AnyText, Lacks>;

/**
 * The value of a reader of any text. The others of the same parameter decide its type: in an intersection with
 * `string`, the type of their number is `never`.
 */
type AnyText = {};

/** A value that is written as text. */
type Written<T> = string extends T ? ([T] extends [string] ? AnyText : T) : T;

/** The values of one place, where a text that no other reader decides is a string. */
type Values<T> = { [K in keyof T]: unknown extends T[K] ? T[K] : AnyText extends T[K] ? string : T[K] };

/** The properties of an object, which are read as parameters. */
type Fields<In, T> = { [K in keyof T as In extends "header" ? HeaderName<K & string> : K]: Written<T[K]> };

/** TypeBox's object has `properties`, and its intersection `allOf`. Other libraries show the type of the input. */
type HasFields<Given> = Given extends { properties: unknown } | { allOf: unknown }
  ? true
  : Given extends { readonly "~standard": { readonly jsonSchema: unknown } }
    ? IsNamed<Exclude<Sent<Given>, undefined>>
    : false;

/** Tells an object with named properties: not an array, a record, or a value that may be of another type. */
type IsNamed<T> = [T] extends [object]
  ? T extends readonly unknown[]
    ? false
    : string extends keyof T
      ? false
      : true
  : false;

type FilesOf<Given> = Given extends { multiple: true } | { static: readonly unknown[] } ? Blob[] : Blob;

/** A header is named in lower case with hyphens, anything else by its alias or as declared. */
type WireName<In, K extends string, Given, Alias> = Alias extends string
  ? InCaseOf<In, Alias>
  : Given extends { alias: infer Own extends string }
    ? InCaseOf<In, Own>
    : In extends "header"
      ? HeaderName<K>
      : K;

/** Headers have no case. */
type InCaseOf<In, Name extends string> = In extends "header" ? Lowercase<Name> : Name;

/** `userAgent` and `user_agent` are `user-agent`. */
type HeaderName<K extends string> = K extends `${infer First}${infer Rest}`
  ? `${First extends "_" ? "-" : Lowercase<First>}${Rest extends Uncapitalize<Rest> ? "" : Hyphen<First>}${HeaderName<Rest>}`
  : "";

type Hyphen<Before> = Before extends "_" | Uppercase<Before & string> ? "" : "-";

/** All members of a union at once. */
type All<U> = (U extends unknown ? (member: U) => void : never) extends (member: infer I) => void ? I : never;

/** The same with undeclared names of the path: strings. */
export type WithNames<R, Names extends string> = R extends { path: infer Declared }
  ? [Exclude<Names, keyof Declared>] extends [never]
    ? R
    : R & { path: { [N in Exclude<Names, keyof Declared>]: string } }
  : [Names] extends [never]
    ? R
    : R & { path: { [N in Names]: string } };

/** The params that a handler carries. */
export type OwnParams<H> = H extends { readonly [PARAMS]: infer P } ? P : {};

/** The values of a request by place. */
export type Places<P, Names> = All<Members<P, Names>[keyof P]>;

/** An intersection as one object, for whom an editor shows it. */
type Plain<T> = { [K in keyof T]: T[K] };

/** One option of a call, which is optional if no part of it is required. */
type Option<Name extends string, T> = {} extends T ? { [N in Name]?: T } : { [N in Name]: T };

type Parameter = "path" | "query" | "header";

/** The option `params`. A browser sends the cookies of a request by itself, so they are never required. */
type Parameters<R> = Plain<
  { [K in keyof R & Parameter as {} extends R[K] ? never : K]: Values<R[K]> } & {
    [K in keyof R & Parameter as {} extends R[K] ? K : never]?: Values<R[K]>;
  } & (R extends { cookie: infer Cookies } ? { cookie?: Partial<Values<Cookies>> } : {})
>;

/** The option `params`, with the parameters of a route by their places; optional if no parameter is required. */
export type ParametersOption<R> = [keyof R & (Parameter | "cookie")] extends [never]
  ? { params?: undefined }
  : Option<"params", Parameters<R>>;

type BodyOption<R> = R extends { body: infer Bodies } | { member: infer Bodies }
  ? JSONBody<Bodies & (R extends { body: unknown; member: infer Others } ? Others : {}), R>
  : R extends { file: infer Files }
    ? { body: FormFields<Plain<Files & (R extends { form: infer Own } ? Values<Own> : {})>> }
    : R extends { form: infer Own }
      ? { body: FormFields<Values<Own>>; headers: FormHeaders }
      : { body?: undefined };

/** A body is sent whole, several of them are members of an object, and so is one with `embed`. */
type JSONBody<Bodies, R> = R extends { member: unknown }
  ? Option<"body", Plain<Bodies>>
  : IsOne<keyof Bodies> extends true
    ? {} extends Bodies
      ? { body?: Bodies[keyof Bodies] }
      : { body: Bodies[keyof Bodies] }
    : Option<"body", Plain<Bodies>>;

/** Tells a type of one member: all of it is in each. */
type IsOne<K, Whole = K> = [K extends unknown ? ([Whole] extends [K] ? true : false) : never] extends [true]
  ? true
  : false;

/** A form by its fields, or as the platform writes it. */
type FormFields<T> = T | FormData | URLSearchParams;

/** The type of a form without a file: an object of strings cannot be distinguished from JSON. */
export interface FormHeaders {
  "Content-Type": "application/x-www-form-urlencoded" | "multipart/form-data";
  [name: string]: string;
}

/** Options of every call. */
export interface CallOptions extends Omit<RequestInit, "body" | "headers" | "method"> {
  headers?: RequestInit["headers"] | Record<string, string>;
}

/** The arguments of a call after its path: `params`, `body` and the options of `fetch`. */
export type ArgumentsOf<R> = Optional<Options<R>>;

/** An argument that is optional if no part of it is required. */
export type Optional<Init> = {} extends Init ? [init?: Init] : [init: Init];

type Options<R> = ParametersOption<R> & BodyOption<R> & CallOptions;
