/** Compile-time checks of a route's path and of its returned type. @module */
import type { Annotation, CheckParams, Injectable, PathNames } from "../parameters/annotation.js";
import type { Marker } from "../parameters/marker.js";
import type { Schema } from "../schema/schema.js";

/** Paths that a route cannot have. One that is put together has a type of any text, and is none of these. */
export type Suspicious = `${Letter | "{" | ":" | "*"}${string}` | `${string}{${string}:${string}`;

type Letter =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m")
  | ("n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z");

/** A suspicious path, with a message if it cannot be registered. */
export type PatternError<Path extends string> = Path extends `/${string}`
  ? [Extract<PathNames<Path>, `${string}:${string}`>] extends [never]
    ? Path
    : Path & WriteInstead<"{id}, and params: { id: t.Integer() }">
  : Path & WriteInstead<`/${Path}`>;

/** Of text a message is an interface: two literals together would be `never`. */
interface WriteInstead<Text> {
  readonly writeInstead: Text;
}

/** The params of a route where all are right, and the message of each that is not. `Path()` may be in an outer prefix. */
export type CheckRoute<P, Path extends string, IsWhole> = P[keyof P] extends Ordinary
  ? unknown
  : P[keyof P] extends Annotation
    ? IsWhole extends true
      ? CheckPath<P, Path>
      : unknown
    : CheckParams<P>;

/** An annotation other than one of `Path()`. */
export type Ordinary = Schema | Injectable | (Marker<unknown> & { readonly in?: undefined });

/** `Path()` under a name that the pattern lacks. */
type CheckPath<P, Path extends string> = {
  [K in keyof P]: P[K] extends { readonly in: "path" }
    ? K extends PathNames<Path>
      ? P[K]
      : `the path ${Path} has no {${K & string}}: write it there, or Query() here`
    : P[K];
};
