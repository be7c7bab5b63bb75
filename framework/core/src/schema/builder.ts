/** TypeBox's builder, with types that say which schemas have a default. @module */
import type {
  ArrayOptions,
  DateOptions,
  IntegerOptions,
  NumberOptions,
  SchemaOptions,
  StringOptions,
  TArray,
  TBoolean,
  TDate,
  TInteger,
  TLiteral,
  TLiteralValue,
  TNumber,
  TSchema,
  TString,
  Type,
  Union,
} from "@sinclair/typebox";

/** A schema with a default: its value may be left out of a request. */
export interface WithDefault {
  readonly default: unknown;
}

type TypeBox = typeof Type;

/**
 * The builder. TypeBox's own types do not tell a schema that has a default, so that a client would have to send the value.
 * The overloads of scalars have no type parameter: to infer the options would cost a route 12 instantiations a schema.
 */
export interface SchemaBuilder extends TypeBox {
  String(options: StringOptions & WithDefault): TString & WithDefault;
  String(options?: StringOptions): TString;
  Integer(options: IntegerOptions & WithDefault): TInteger & WithDefault;
  Integer(options?: IntegerOptions): TInteger;
  Number(options: NumberOptions & WithDefault): TNumber & WithDefault;
  Number(options?: NumberOptions): TNumber;
  Boolean(options: SchemaOptions & WithDefault): TBoolean & WithDefault;
  Boolean(options?: SchemaOptions): TBoolean;
  Date(options: DateOptions & WithDefault): TDate & WithDefault;
  Date(options?: DateOptions): TDate;
  Literal<Value extends TLiteralValue>(
    value: Value,
    options: SchemaOptions & WithDefault,
  ): TLiteral<Value> & WithDefault;
  Literal<Value extends TLiteralValue>(value: Value, options?: SchemaOptions): TLiteral<Value>;
  Union<Types extends TSchema[]>(types: [...Types], options: SchemaOptions & WithDefault): Union<Types> & WithDefault;
  Union<Types extends TSchema[]>(types: [...Types], options?: SchemaOptions): Union<Types>;
  Array<Item extends TSchema>(items: Item, options: ArrayOptions & WithDefault): TArray<Item> & WithDefault;
  Array<Item extends TSchema>(items: Item, options?: ArrayOptions): TArray<Item>;
}
