/** Settings: environment variables, read once through a schema. @module */
import { configurationError } from "../../common/exceptions.js";
import { assertOptions, OBJECT, type OptionRules, TEXT } from "../../common/options.js";
import { mapValues } from "../../common/records.js";
import type { CompiledSchema } from "../../schema/compiled-schema.js";
import { compileSchema, isSchema, type Schema, type SchemaOutput } from "../../schema/schema.js";
import { Faults, isSecretName } from "../../schema/faults.js";
import type { StandardSchema } from "../../schema/standard.js";

/** Survives the copies that TypeBox makes of a schema. */
const SECRET: unique symbol = Symbol("tsgi.secret");
/** Schemas of Zod, which are objects with an identity. */
const marked = new WeakSet<object>();

/** Marks a schema of TypeBox. */
function markCopy<S extends object>(schema: S): S {
  return { ...schema, [SECRET]: true };
}

/** Marks a schema of Zod. */
function markObject(schema: object): void {
  marked.add(schema);
}

/** The definition of a schema of Zod. */
interface Definition extends Readonly<Record<string, unknown>> {
  /** The schema of `z.lazy`. */
  readonly getter?: () => unknown;
}

/**
 * The parts of a Zod schema that are used here. Its parent is the schema that it is a copy of: `min(8)` and `describe`
 * copy.
 */
interface ZodSchema {
  readonly _zod: { readonly def: Definition; readonly parent?: object };
}

/** The keywords of Zod that hold schemas. A default is not asked for: it may be a function of the application. */
const ZOD_PARTS = "shape innerType in out left right options element items keyType valueType".split(" ");

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** All parts of a schema, under any keyword. */
function partsOf(schema: object): object[] {
  if (!("_zod" in schema)) return Object.values(schema).filter(isObject);
  const {
    _zod: { def, parent },
  } = schema as ZodSchema;
  return [parent, def.getter?.(), ...ZOD_PARTS.map((name) => def[name])].filter(isObject);
}

/** A schema and everything inside it, each once: a schema may contain itself. */
function reachableFrom(schema: object, found = new Set<object>()): Set<object> {
  if (found.has(schema)) return found;
  found.add(schema);
  for (const part of partsOf(schema)) reachableFrom(part, found);
  return found;
}

const isMarked = (schema: object) => SECRET in schema || marked.has(schema);

/** The properties with a mark on their schema, or anywhere inside it: a mark that is lost would show the value. */
function secretProperties(schema: object): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const part of reachableFrom(schema)) {
    const { properties, shape } = part as Readonly<Record<string, unknown>>;
    for (const [key, property] of Object.entries(properties ?? shape ?? {})) {
      if (isObject(property) && [...reachableFrom(property)].some(isMarked)) keys.add(key);
    }
  }
  return keys;
}

/** The options of `loadSettings`. */
export interface SettingsOptions {
  /** The variables. Defaults to `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
  /** In front of each variable's name, such as `"APP_"`. Empty by default. */
  prefix?: string;
}

const OPTIONS: OptionRules<SettingsOptions> = { env: OBJECT, prefix: TEXT };

/** An error of one variable. */
export interface SettingsFault {
  /** The name of the variable. */
  readonly variable: string;
  readonly message: string;
}

/** Variables are missing or wrong: all of them are listed, by name, and no value of a secret is. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly faults: readonly SettingsFault[];

  constructor(faults: readonly SettingsFault[]) {
    const lines = faults.map(({ variable, message }) => `\n  ${variable}: ${message}`);
    super(`The settings cannot be read from the environment:${lines.join("")}`);
    this.faults = faults;
  }
}

/** The origin of the value of a setting. */
export interface SettingReport {
  readonly variable: string;
  readonly state: "set" | "default" | "missing" | "invalid";
  /** `null` for one that is not shown. */
  readonly value: unknown;
}

/** The settings that each call of `loadSettings` found, for `tsgi doctor`. */
const reports = new Map<Schema, readonly SettingReport[]>();

/** The settings that this process has read. */
export function reportSettings(): SettingReport[] {
  return [...reports.values()].flat();
}

/**
 * Marks a property of the settings as secret: errors, `JSON.stringify`, `String` and `console.log` do not show it. Its
 * value is the plain one.
 *
 * @returns the schema, marked.
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { loadSettings, secret } from "tsgi/settings";
 *
 * const schema = t.Object({ apiKey: secret(t.String()) });
 * const settings = loadSettings(schema, { env: { API_KEY: "12345678" } });
 * console.log(settings.apiKey); // 12345678
 * console.log(JSON.stringify(settings).includes("12345678")); // false
 * ```
 */
export function secret<S extends Schema>(schema: S): S {
  if (!isSchema(schema)) throw configurationError("TSGI_INVALID_SETTINGS.secret", schema);
  if ("~standard" in schema) {
    // The parts of another library's schema cannot be found again, and a mark that is lost would show the value.
    const { vendor } = (schema as StandardSchema)["~standard"];
    if (vendor !== "zod") throw configurationError("TSGI_INVALID_SETTINGS.vendor", vendor);
    markObject(schema);
    return schema;
  }
  return markCopy(schema);
}

/** One property and its variable. */
interface Setting {
  readonly key: string;
  readonly variable: string;
  /** `undefined` for one that is not set. */
  readonly text: string | undefined;
  readonly isSecret: boolean;
  readonly read: (text: string, faults: Faults) => unknown;
}

/** `databaseUrl` and `databaseURL` are read from `DATABASE_URL`. */
function variableOf(key: string): string {
  return key.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toUpperCase();
}

function toList(text: string): string[] {
  return text === "" ? [] : text.split(",").map((item) => item.trim());
}

function settingsOf(schema: Schema, compiled: CompiledSchema, options: Required<SettingsOptions>): Setting[] {
  if (!compiled.properties) throw configurationError("TSGI_INVALID_SETTINGS.object");
  const secrets = secretProperties(schema);
  return Array.from(compiled.properties, ([key, property]) => {
    const coerce = compiled.coerceProperty(property);
    if (!coerce) {
      throw configurationError(
        "TSGI_SCHEMA_NOT_READABLE_FROM_TEXT",
        `The property ${JSON.stringify(key)} of the settings`,
      );
    }
    const variable = options.prefix + variableOf(key);
    return {
      key,
      variable,
      text: options.env[variable],
      isSecret: secrets.has(key),
      read: coerce.isList
        ? (text, faults) => coerce.convert({ whole: text, items: toList(text) }, faults)
        : coerce.convert,
    };
  });
}

/**
 * Reads the variables that are set, and fills in the defaults of the others. Each error has the property as the first
 * part of its location.
 */
function read(settings: readonly Setting[], compiled: CompiledSchema): { result: unknown; faults: Faults } {
  const faults = new Faults();
  const value: Record<string, unknown> = {};
  for (const { key, text, read: readText } of settings) {
    if (text === undefined) continue;
    const before = faults.count;
    const item = readText(text, faults);
    if (faults.count === before) value[key] = item;
    else faults.within(before, key);
  }
  const unread = new Set(faults.list.map(({ loc }) => loc[0]));
  const own = new Faults();
  const result = compiled.check(value, own);
  faults.take(own.list.filter(({ loc }) => !unread.has(loc[0])));
  return { result, faults };
}

/**
 * Reads settings from the environment, `DATABASE_URL` for the property `databaseUrl`. Text is converted as a query
 * parameter is, a list has commas between its members, and defaults are filled in. An empty variable counts as not set
 * where the schema takes no empty text.
 *
 * @returns a frozen object.
 * @throws SettingsError that lists every variable which is missing or wrong.
 * @throws ConfigurationError for a schema that cannot be read from text.
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { loadSettings, secret } from "tsgi/settings";
 *
 * const schema = t.Object({ port: t.Integer({ default: 8000 }), secretKey: secret(t.String({ minLength: 32 })) });
 * const settings = loadSettings(schema, { env: { SECRET_KEY: "0123456789abcdef0123456789abcdef" } });
 * settings.port; // 8000
 * ```
 */
export function loadSettings<S extends Schema>(schema: S, options: SettingsOptions = {}): Readonly<SchemaOutput<S>> {
  if (!isSchema(schema)) throw configurationError("TSGI_INVALID_SETTINGS.schema", schema);
  assertOptions("loadSettings()", options, OPTIONS);
  const compiled = compileSchema(schema);
  const { env = globalThis.process?.env ?? {}, prefix = "" } = options;
  let settings = settingsOf(schema, compiled, { env, prefix });
  let { result, faults } = read(settings, compiled);
  const faulty = new Set(faults.list.map(({ loc }) => loc[0]));
  if (settings.some(({ key, text }) => text === "" && faulty.has(key))) {
    settings = settings.map((one) => (one.text === "" && faulty.has(one.key) ? { ...one, text: undefined } : one));
    ({ result, faults } = read(settings, compiled));
  }
  if (result instanceof Promise) throw configurationError("TSGI_INVALID_SETTINGS.promise");
  reports.set(schema, report(settings, result, faults));
  if (faults.count > 0) throw new SettingsError(faults.list.map((fault) => explain(fault, settings)));
  return hide(result as object, settings) as Readonly<SchemaOutput<S>>;
}

function explain({ loc: [key, ...path], type, msg, input }: Faults["list"][number], settings: readonly Setting[]) {
  const setting = settings.find((one) => one.key === key);
  const variable = setting?.variable ?? String(key ?? "(all of them)");
  if (type === "missing" && path.length === 0) return { variable, message: "is missing" };
  const place = path.length === 0 ? "" : ` (${path.join(".")})`;
  const isShown = setting !== undefined && !isHidden(setting) && isPublic(variable, input);
  const hidden = type === "value_error" && repeatsSecret(msg, setting, settings) ? "Input is not valid" : msg;
  return { variable, message: `${hidden}${place}${isShown ? `, not ${JSON.stringify(input)}` : ""}` };
}

/** Characters of a secret in a message that are enough to hide the message: it may itself have been cut. */
const TELLTALE_LENGTH = 8;

/** Tells if the message of a library's own check repeats a secret: one of all settings sees them all. */
function repeatsSecret(msg: string, setting: Setting | undefined, settings: readonly Setting[]): boolean {
  return (
    setting?.isSecret === true ||
    settings.some((one) => {
      const telltale = one.text?.slice(0, TELLTALE_LENGTH) ?? "";
      if (telltale === "" || !isHidden(one)) return false;
      return msg.includes(telltale) || msg.includes(JSON.stringify(telltale).slice(1, -1));
    })
  );
}

/** Tells if the text of a setting is hidden. */
function isHidden({ isSecret, variable, text }: Setting): boolean {
  return isSecret || (text !== undefined && !isPublic(variable, text));
}

/** A password in the authority of an address. It may have a slash, which makes the address a wrong one. */
const WITH_PASSWORD = /:\/\/.*@/s;
/** The names in a query or in the text of a connection, such as `Server=db;Password=…`. */
const NAMES = /(?<![\w.-])([\w.-]+)\s*=/g;

/** Tells if a value that is not marked may be shown: neither its name nor a part of it is the name of a secret. */
function isPublic(variable: string, value: unknown): boolean {
  if (value === undefined || isSecretName(variable)) return false;
  const text = JSON.stringify(value);
  return !WITH_PASSWORD.test(text) && ![...text.matchAll(NAMES)].some(([, name = ""]) => isSecretName(name));
}

function report(settings: readonly Setting[], result: unknown, { list }: Faults): SettingReport[] {
  const values = (result ?? {}) as Record<string, unknown>;
  return settings.map(({ key, variable, text, isSecret }) => {
    const fault = list.find(({ loc }) => loc[0] === key);
    const value = list.length === 0 ? values[key] : text;
    const isShown = !isSecret && isPublic(variable, value);
    const failed = fault?.type === "missing" ? "missing" : "invalid";
    return {
      variable,
      state: fault ? failed : text === undefined ? "default" : "set",
      value: isShown ? value : null,
    };
  });
}

/** The method that Node's `console.log` asks for the text of an object. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

function hide(values: object, settings: readonly Setting[]): object {
  const hidden = new Set(settings.filter(({ isSecret }) => isSecret).map(({ key }) => key));
  const shown = () => mapValues({ ...values }, (value: unknown, key) => (hidden.has(key) ? "***" : value));
  const define = (name: string | symbol, value: () => unknown) => Object.defineProperty(values, name, { value });
  define("toJSON", shown);
  define("toString", () => JSON.stringify(shown()));
  define(INSPECT, shown);
  return Object.freeze(values);
}
