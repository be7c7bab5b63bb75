/** Settings that last as long as one transaction: the values that policies read, and the role. @module */
import type { Marker } from "tsgi";
import { describe, isRecord, isWellFormed } from "tsgi/internals";
import { transactionError } from "./errors.js";

/** Names and values for policies of row-level security, such as `{ "app.tenant": "acme" }`. */
export type Locals = Readonly<Record<string, string>>;

/** The settings of one transaction: `set_config(name, value, true)`. */
export type Settings = readonly (readonly [name: string, value: string])[];

/** The dependencies of the settings, as the parameters of the transaction. */
export type SettingParams<Options> = (Options extends { readonly locals: infer L extends Marker<Locals> }
  ? { readonly locals: L }
  : {}) &
  (Options extends { readonly role: infer R extends Marker<string> } ? { readonly role: R } : {});

/** Only names with a prefix: the others are settings of PostgreSQL itself, such as `role` and `row_security`. */
const NAME = /^[a-z_]+\.[a-z_]+$/;

/** PostgreSQL reads this word as the user of the connection, who may see all rows. */
const NO_ROLE = /^(?:none)?$/i;

/** Tells if a transaction can have this role. */
export function isRole(value: unknown): value is string {
  return isText(value) && !NO_ROLE.test(value);
}

/**
 * Checks the value of `locals`. Attack: a value that is missing or converted would select the rows of another tenant.
 *
 * @throws ConfigurationError for a name or a value that cannot be a setting.
 */
export function localsOf(locals: unknown): Settings {
  if (!isRecord(locals) || !isPlain(locals)) throw transactionError("TSGI_TRANSACTION_LOCALS.value", describe(locals));
  return Object.entries(locals).map(([name, value]) => {
    if (!NAME.test(name)) throw transactionError("TSGI_TRANSACTION_LOCALS.name", name);
    if (!isText(value)) throw transactionError("TSGI_TRANSACTION_LOCALS.text", name, value);
    return [name, value];
  });
}

/** Checks the value of `role`. @throws ConfigurationError for one that a transaction cannot have. */
export function roleOf(role: unknown): Settings {
  if (!isRole(role)) throw transactionError("TSGI_TRANSACTION_ROLE", role);
  return [["role", role]];
}

/** The entries of a `Map` or of an object with getters would be silently without effect. Tests have another `Object`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** PostgreSQL has no NUL in a text, and the driver would write U+FFFD for each lone surrogate: two tenants would be one. */
function isText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0") && isWellFormed(value);
}

/** The statement that applies settings until the transaction ends, however it ends (PostgreSQL, §9.28.1). The role is the last one. */
export function statementOf(settings: Settings): { readonly text: string; readonly values: readonly string[] } {
  const calls = settings.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  return { text: `SELECT ${calls.join(", ")}`, values: settings.flat() };
}
