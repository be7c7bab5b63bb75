/** Sources: one value for each kind of parameter that is read from the request. @module */
import { markCopy } from "../common/copies.js";
import type { HTTPScope, Receive, ReceiveMessage, WebSocketScope } from "../protocol/asgi.js";
import type { ContentHeaders } from "../protocol/header-list.js";
import type { FormData } from "../http/upload-file.js";
import { configurationError } from "../common/exceptions.js";
import { ANYTHING, assertOptions, FLAG, LIST, type OptionRule, type OptionRules, TEXT } from "../common/options.js";
import type { Limits } from "../http/limits.js";
import type { Request } from "../http/request.js";
import type { CompiledSchema } from "../schema/compiled-schema.js";
import { compileMarkerDefault, compileSchema, isSchema, type Schema, t } from "../schema/schema.js";
import { type Faults, isSecretName } from "../schema/faults.js";
import type { JSONSchema } from "../schema/json-schema.js";
import type { BodyOptions, FileOptions, OUTPUT, ParamKind, SENT, SourceOptions } from "./marker.js";

/** The JSON body of a request. */
export interface JSONBody {
  readonly content: ContentHeaders;
  /** The pending first message, if it was requested without a `Request`. */
  receiving: Promise<ReceiveMessage> | null;
  isLoaded: boolean;
  /** `true` for a body with errors, which are reported. */
  isFaulty: boolean;
  /** Any JSON value; `undefined`, which JSON does not have, for no body. */
  value: unknown;
}

/** The form of a request. */
export interface FormBody {
  readonly loading: Promise<void>;
  /** `null` until it is loaded, and for a form with errors, which are reported. */
  data: FormData | null;
}

/** The parts of a request that parameters are read from. */
export interface RequestParts {
  readonly scope: HTTPScope | WebSocketScope;
  readonly query: URLSearchParams;
  readonly request: Request;
  /** The JSON body, loaded; `null` if no parameter is read from it. */
  readonly json: JSONBody | null;
  /** The form, in the same way. */
  readonly form: FormBody | null;
  readonly settings: { readonly embedBody: boolean };
  readonly faults: Faults;
}

/** A request whose body is being loaded. */
export interface LoadingParts extends RequestParts {
  readonly receive: Receive;
  readonly settings: { readonly limits: Readonly<Limits>; readonly embedBody: boolean; readonly takesFiles: boolean };
  /** The request, if a parameter requested it. */
  readonly requestIfMade: Request | null;
  /** The first message, if it was taken without a `Request`. */
  firstMessage: ReceiveMessage | null;
  json: JSONBody | null;
  form: FormBody | null;
}

/**
 * One step in loading a body. A promise of it is waited for before the next one.
 *
 * @param last - The result of the step before.
 */
export type Load = (request: LoadingParts, last: unknown) => unknown;

/** Reads a parameter, and adds its errors to those of the request. A promise where a schema checks asynchronously. */
export type Read = (request: RequestParts) => unknown;

/** The result of a read whose errors were added to the request. */
export const INVALID: unique symbol = Symbol("invalid");

/** A parameter to be read. */
export interface Parameter {
  readonly name: string;
  readonly marker: SourceMarker;
  /** Names it in messages. */
  readonly where: string;
  /** `true` for the parameter of a security scheme, for which a header is one value even if it has commas. */
  readonly isCredential: boolean;
}

/** A kind of parameter: how it is named, read, refused and documented. */
export interface ParamSource {
  readonly kind: ParamKind;
  /** The name of the parameter function. */
  readonly functionName: string;
  /** The first member of `loc` in its errors. */
  readonly loc: "path" | "query" | "header" | "cookie" | "body" | "form" | "file";
  /** The body that it is read from; `null` for the head. `multipart` is a form that cannot be urlencoded. */
  readonly body: "json" | "form" | "multipart" | null;
  /** The steps that load that body, the same for each source of it. */
  readonly load: readonly Load[];
  /** `in` of OpenAPI's Parameter Object; `null` for a part of the body, which is not one. */
  readonly in: "path" | "query" | "header" | "cookie" | null;
  /** `true`: a name of the path pattern. It is never absent, so it has no default, and the document always lists it. */
  readonly isInPattern: boolean;
  /** `true`: each property of an object schema is read by its own name. */
  readonly readsProperties: boolean;
  /** The rules of options that no other parameter function has. */
  readonly ownOptions: Readonly<Record<string, OptionRule>>;
  /** The name on the wire of a parameter or property. */
  wireName(name: string): string;
  /** The name on the wire of an alias. */
  wireAlias(alias: string): string;
  /** @throws ConfigurationError when its schema does not fit the source. */
  compileRead(parameter: Parameter): Read;
  /** @throws ConfigurationError when the default of the parameter function does not fit. */
  compileDefault(marker: SourceMarker, value: unknown, where: string): () => unknown;
  /** The schema in the document. A source without rules allows anything. */
  toJSONSchema(marker: SourceMarker): JSONSchema;
}

/** The schema of a parameter that is declared without one. */
const TEXT_SCHEMA = t.String();

/** Creates a source from its specific parts. */
export function createSource(
  own: Pick<ParamSource, "kind" | "functionName" | "loc" | "body" | "compileRead"> & Partial<ParamSource>,
): ParamSource {
  return {
    in: null,
    load: [],
    isInPattern: false,
    readsProperties: false,
    ownOptions: {},
    wireName: (name) => name,
    wireAlias: (alias) => alias,
    compileDefault: ({ schema }, value, where) => compileMarkerDefault(schema ?? TEXT_SCHEMA, value, where),
    toJSONSchema: ({ compiled }) => compiled.json ?? {},
    ...own,
  };
}

/** Every option that a parameter function of any source may have. */
export interface AnySourceOptions extends BodyOptions, FileOptions {
  default?: unknown;
}

/** The value of a parameter function, which reads from the request. */
export class SourceMarker {
  static {
    markCopy(this);
  }

  /** Told apart in types only. */
  declare readonly in: "path";
  declare readonly [OUTPUT]: never;
  declare readonly [SENT]: never;
  readonly source: ParamSource;
  /** `null`: a string, unchanged. */
  readonly schema: Schema | null;
  readonly options: Readonly<AnySourceOptions>;

  constructor(source: ParamSource, schema: Schema | null = null, options: Readonly<AnySourceOptions> = {}) {
    this.source = source;
    this.schema = schema;
    this.options = options;
  }

  /** The compiled schema, or the schema of a string by default. */
  get compiled(): CompiledSchema {
    return compileSchema(this.schema ?? TEXT_SCHEMA);
  }

  /** The name under which the parameter travels. */
  wireName(name: string): string {
    const { alias } = this.options;
    return alias === undefined ? this.source.wireName(name) : this.source.wireAlias(alias);
  }
}

/** The result for an absent value: a default, `undefined` for an optional one, or the error `missing`. */
export interface Absence {
  readonly isRequired: boolean;
  readonly make: (faults: Faults) => unknown;
}

const REQUIRED: Absence = { isRequired: true, make: (faults) => faults.add("missing", "Field required", null) };

/**
 * Finds the result for an absent value, from the parameter function first and the schema next.
 *
 * @param where - Names the parameter in the message.
 * @throws ConfigurationError when the default does not fit.
 */
export function absenceOf(marker: SourceMarker, where = "a parameter"): Absence {
  const { default: value } = marker.options;
  if (value !== undefined) return { isRequired: false, make: marker.source.compileDefault(marker, value, where) };
  const { absent } = marker.compiled;
  return absent ? { isRequired: false, make: absent } : REQUIRED;
}

/** The rules of the options of every parameter function. */
const SOURCE_OPTIONS: OptionRules<SourceOptions & { default: unknown }> = {
  default: ANYTHING,
  alias: TEXT,
  description: TEXT,
  examples: LIST,
  deprecated: FLAG,
  includeInSchema: FLAG,
};

/** Makes the function that declares parameters of a source: `(schema?, options?)`. */
export function createParamFunction(source: ParamSource) {
  const { functionName } = source;
  const rules = { ...SOURCE_OPTIONS, ...source.ownOptions };
  return (first?: unknown, second?: unknown): SourceMarker => {
    const schema = isSchema(first) ? first : null;
    const given = schema ? second : first;
    const options = given === undefined ? {} : given;
    if (typeof options !== "object" || options === null || (schema === null && second !== undefined)) {
      throw configurationError("TSGI_INVALID_DESCRIPTOR", functionName, first);
    }
    if (source.isInPattern && "default" in options) throw configurationError("TSGI_PATH_PARAMETER_DEFAULT");
    assertOptions(`${functionName}()`, options, rules);
    return new SourceMarker(source, schema, options);
  };
}

/** The first members of `loc` in the errors of a parameter. */
export class Location {
  readonly #inwards: readonly string[];
  readonly #isSecret: boolean;

  /** @param loc - Outside in. */
  constructor({ name, marker }: Parameter, loc: readonly string[]) {
    this.#inwards = loc.toReversed();
    this.#isSecret = isSecretName(name) || isSecretName(marker.options.alias ?? name);
  }

  /** Adds this location to the errors since `from`. Returns the result of a read with errors. */
  mark(faults: Faults, from: number): typeof INVALID {
    if (this.#isSecret) faults.hideInputs(from);
    for (const part of this.#inwards) faults.within(from, part);
    return INVALID;
  }

  /** Ends a read that may be a promise: its errors, collected separately, are added after it has settled. */
  finishRead({ faults }: RequestParts, own: Faults, result: unknown): unknown {
    const end = (settled: unknown) => {
      if (own.count === 0) return settled;
      this.mark(own, 0);
      faults.take(own.list);
      return INVALID;
    };
    return result instanceof Promise ? result.then(end) : end(result);
  }
}
