/** Types of values as they travel. @module */
import type { OptionalSchema, WithDefault } from "../schema/schema.js";

/** A value as JSON carries it: a date is text, and so is anything that writes itself with `toJSON`. */
export type JSONOf<T> = 0 extends 1 & T
  ? unknown
  : T extends object
    ? T extends { toJSON(...args: never): infer Text }
      ? Text
      : { [K in keyof T]: JSONOf<T[K]> }
    : T;

/** The type of a schema's value in a response. */
export type Received<S> = S extends { static: infer T }
  ? JSONOf<T>
  : S extends { readonly "~standard": { readonly types?: { readonly output: infer T } | undefined } }
    ? JSONOf<T>
    : unknown;

/**
 * The type of a schema's value in a request: one with a default may be left out of an object. An object's is built from
 * its properties: with its static type, which consists of ten types that the compiler instantiates at each place, a
 * call of a route with its own object schemas costs 837 instantiations instead of 506.
 */
export type Sent<S> = S extends { static: unknown; properties: infer Properties }
  ? SentObject<Properties, Absent<Properties>>
  : S extends { static: (infer _)[]; items: infer Item extends { static: unknown } }
    ? Sent<Item>[]
    : S extends { static: infer T }
      ? JSONOf<T>
      : S extends { readonly "~standard": { readonly types?: { readonly input: infer T } | undefined } }
        ? JSONOf<T>
        : unknown;

type SentObject<Properties, Names> = [Names] extends [never]
  ? { [K in keyof Properties]: Sent<Properties[K]> }
  : Plain<
      { [K in Exclude<keyof Properties, Names>]: Sent<Properties[K]> } & {
        [K in keyof Properties & Names]?: Sent<Properties[K]>;
      }
    >;

/** The names of properties that may be left out. */
type Absent<Properties> = {
  [K in keyof Properties]: Properties[K] extends MayBeAbsent ? K : never;
}[keyof Properties];

/** An intersection as one object. It is not exported: a declaration then shows the object, and not this name. */
type Plain<T> = { [K in keyof T]: T[K] };

/** Tells a schema whose value may be left out. */
export type MayBeAbsent = OptionalSchema | WithDefault;
