/** The parameter under test: its marker and its schema. @module */
import type { TSchema } from "@sinclair/typebox";
import { z } from "zod";
import { Body, Cookie, File, Form, Header, Path, Query, t } from "../../core/src/index.js";
import type { Annotation } from "../../core/src/parameters/annotation.js";
import { type Combination, isQuery } from "./_pairs-factors.js";
import { DEFAULT } from "./_pairs-samples.js";

const BOUNDED = { minimum: 1, maximum: 9 };

/** The schemas. The others are `integer` with options of their marker. */
const SCHEMAS: Readonly<Partial<Record<Combination["schema"], TSchema>>> = {
  none: t.String(),
  format: t.String({ format: "email" }),
  enum: t.Enum({ red: "red", green: "green" }),
  object: t.Object({ count: t.Integer(BOUNDED), note: t.String({ default: "-" }) }),
  union: t.Union([
    t.Object({ kind: t.Literal("cat"), lives: t.Integer() }),
    t.Object({ kind: t.Literal("dog"), barks: t.Boolean() }),
  ]),
  date: t.Date(),
};

function schemaOf({ parameter, schema }: Combination): unknown {
  const isList = parameter === "list";
  if (schema === "standard") {
    const integer = z.int().min(1).max(9);
    return isList ? z.array(integer) : integer;
  }
  const one = SCHEMAS[schema] ?? t.Integer(BOUNDED);
  const whole = parameter === "file" && schema === "optional" ? t.Any() : isList ? t.Array(one) : one;
  return schema === "optional" ? t.Optional(whole) : whole;
}

function optionsOf({ parameter, schema }: Combination): object | undefined {
  const embed = parameter === "embedded" ? { embed: true } : undefined;
  if (schema === "nullable") return { ...embed, default: null };
  if (schema === "default") return { ...embed, default: parameter === "list" ? [DEFAULT] : DEFAULT };
  return embed;
}

/** The functions that make markers, as they are called for a row whose types are not known. */
const MARKERS = {
  path: Path,
  query: Query,
  list: Query,
  header: Header,
  cookie: Cookie,
  body: Body,
  embedded: Body,
  form: Form,
  file: File,
} as unknown as Readonly<Record<string, (...args: unknown[]) => Annotation>>;

/** The parameter under test. */
export function parameterOf(c: Combination): Annotation {
  const { parameter, schema } = c;
  const make = MARKERS[parameter];
  if (make === undefined) {
    const inSchema = { default: DEFAULT, nullable: null as never }[schema as string];
    return inSchema === undefined ? (schemaOf(c) as Annotation) : t.Integer({ ...BOUNDED, default: inSchema });
  }
  const isBare =
    parameter === "file" ? schema === "none" || schema === "nullable" : schema === "none" && parameter !== "list";
  const options = optionsOf(c);
  return make(...(isBare ? [] : [schemaOf(c)]), ...(options === undefined ? [] : [options]));
}

/**
 * Another number that the request sends. It has another source than an object, which reads all values of its source.
 */
export const numberOf = ({ parameter }: Combination, name: string): Annotation =>
  isQuery(parameter) ? Header(t.Integer(), { alias: `x-${name}` }) : Query(t.Integer());
