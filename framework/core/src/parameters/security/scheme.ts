/** The base class of security schemes. @module */
import { CallableInstance } from "../../protocol/callable.js";
import { HTTPException } from "../../common/exceptions.js";
import { expecting, type OptionRules, TEXT } from "../../common/options.js";
import { HTTPConnection } from "../../http/request.js";
import { type CredentialsFinder, FIND_CREDENTIALS } from "../credentials.js";
import type { Marker } from "../marker.js";
import { type PARAMS, SecurityScopes, withParams } from "../annotation.js";
import { SourceMarker } from "../source.js";

/** One way to get a token. @see OpenAPI 3.0.3 §4.7.29 */
export interface OAuthFlowObject {
  authorizationUrl?: string;
  tokenUrl?: string;
  refreshUrl?: string;
  /** Descriptions by name. */
  scopes: Record<string, string>;
}

/** A security scheme of the document. @see OpenAPI 3.0.3 §4.7.27 */
export type SecuritySchemeObject = { description?: string } & (
  | { type: "http"; scheme: string; bearerFormat?: string }
  | { type: "apiKey"; in: "query" | "header" | "cookie"; name: string }
  | { type: "oauth2"; flows: { password?: OAuthFlowObject; authorizationCode?: OAuthFlowObject } }
  | { type: "openIdConnect"; openIdConnectUrl: string }
);

/** Options of every scheme. */
export interface SchemeOptions<AutoError extends boolean = boolean> {
  /**
   * `true` refuses a request without usable credentials with 401. With `false`, the value is then `null`, and the code
   * that uses it decides. Defaults to `true`.
   */
  autoError?: AutoError;
  /** Its name in the document. Defaults to the name of its class. */
  schemeName?: string;
  /** Markdown for the document. */
  description?: string | undefined;
}

/** Makes the error for a request or WebSocket without usable credentials. */
export type MakeAuthError = (connection: HTTPConnection) => HTTPException;

/**
 * The options of a scheme with its own error: `autoError` makes it, in place of a 401 with a challenge. The scheme stays
 * required.
 */
export type WithAuthError<Options extends SchemeOptions> = Omit<Options, "autoError"> & {
  readonly autoError: MakeAuthError;
};

/** Rules of the options of every scheme; a single scheme can add more. */
export const SCHEME_OPTIONS: OptionRules<SchemeOptions> = {
  autoError: expecting("true, false or a function", (value) => ["boolean", "function"].includes(typeof value)),
  schemeName: TEXT,
  description: TEXT,
};

/** The rules of every kind of scheme. */
interface CommonParts {
  /** Its name in the document if `schemeName` is not set. */
  readonly defaultName: string;
  readonly definition: SecuritySchemeObject;
  /** Reads the credentials: every value that was sent under the name. */
  readonly source: Marker<readonly string[]>;
  /** `WWW-Authenticate` of a 401, which RFC 9110 §15.5.2 requires. */
  readonly challenge: string;
}

/** The rules of a scheme that does not look into its credentials. */
interface ParsedParts<Credentials> extends CommonParts {
  /** Makes credentials of the one value; `null` if it contains no credentials. */
  readonly parse: (text: string) => Credentials | null;
  readonly verify?: undefined;
}

/** The rules of a scheme that verifies its credentials. */
interface VerifiedParts<Value> extends CommonParts {
  /** Extracts the credentials from the one value; `null` if it contains no credentials. */
  readonly parse: (text: string) => string | null;
  /**
   * Verifies the credentials, and returns the value of the scheme. It gets the scopes that `Security` requires, and throws an
   * `HTTPException`. If `autoError` is `false`, a 401 makes the value `null`.
   */
  readonly verify: (credentials: string, asked: SecurityScopes) => Value;
}

/** The rules of one kind of scheme, for classes that extend `SecurityScheme`. */
export type SchemeParts<Value> = ParsedParts<Value> | VerifiedParts<Value>;

/** The argument of a scheme: the values from the request. */
export interface SchemeArgs {
  readonly sent: readonly string[];
  /** The scopes that are required of a scheme that verifies its credentials. */
  readonly asked?: SecurityScopes;
  /** The request or WebSocket, for a scheme with its own error. */
  readonly connection?: HTTPConnection;
}

/** A scheme is a dependency: a function that carries its params. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor gives a function, which is callable
export interface SecurityScheme<Credentials, AutoError> {
  (args: SchemeArgs): AutoError extends false ? Credentials | null : Credentials;
  readonly [PARAMS]: { readonly sent: Marker<readonly string[]> };
}

/**
 * Makes the test for a value of one scheme. `Authorization` begins with the word of its scheme (RFC 9110 §11.6.2), and has
 * several where lines were combined with commas (Fetch §2.2.2); every value of another header, parameter or cookie counts.
 */
function compileIsOwn({ source, challenge, definition }: CommonParts): (value: string) => boolean {
  const marker: unknown = source;
  const isAuthorization =
    marker instanceof SourceMarker && marker.source.in === "header" && marker.wireName("") === "authorization";
  if (!isAuthorization || definition.type === "apiKey") return () => true;
  const wordOf = (text: string) => /^[ \t]*([^ \t]*)/.exec(text)?.[1]?.toLowerCase();
  const word = wordOf(challenge);
  return (value) => value.split(",").some((part) => wordOf(part) === word);
}

/** Reads the value that was sent; `null` if there are several, since a proxy may have looked at the other one. */
function onlyOf<T>(sent: readonly string[], read: (text: string) => T | null): T | null {
  const [only] = sent;
  return only !== undefined && sent.length === 1 ? read(only) : null;
}

/** Compiles the way from the text that was sent to the value of the scheme; `null` if the text contains no credentials. */
function compileValue<Value>(parts: SchemeParts<Value>, autoError: boolean) {
  if (parts.verify === undefined) return parts.parse;
  const { parse, verify } = parts;
  return (text: string, asked = new SecurityScopes()): Value | Promise<Value | null> | null => {
    const credentials = parse(text);
    if (credentials === null) return null;
    return autoError ? verify(credentials, asked) : verifyLeniently(() => verify(credentials, asked));
  };
}

/** Returns `null` for invalid credentials. Other errors, such as missing scopes, are still thrown. */
async function verifyLeniently<Value>(verify: () => Value): Promise<Awaited<Value> | null> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof HTTPException && error.statusCode === 401) return null;
    throw error;
  }
}

/** `true` where the name of a scheme was given, so that a document may not change it. */
export const IS_NAMED: unique symbol = Symbol("isNamed");

/**
 * The base of all security schemes: a dependency that takes the credentials out of a request or a WebSocket's handshake, and
 * that a document lists under `securitySchemes`.
 *
 * Repeated credentials are ignored: a proxy may have used the other header.
 *
 * @example
 * ```ts
 * import { Header, t } from "tsgi";
 * import { SecurityScheme, type SchemeOptions } from "tsgi/security";
 *
 * // A signature in a header of its own.
 * export class SignatureHeader extends SecurityScheme<string, true> {
 *   constructor(options: SchemeOptions<true> = {}) {
 *     super(options, {
 *       defaultName: "Signature",
 *       definition: { type: "apiKey", in: "header", name: "X-Signature" },
 *       source: Header(t.Array(t.String(), { default: [] }), { alias: "X-Signature" }),
 *       parse: (text) => (text === "" ? null : text),
 *       challenge: "Signature",
 *     });
 *   }
 * }
 * ```
 */
export class SecurityScheme<Credentials = unknown, AutoError extends boolean = boolean> extends CallableInstance {
  /** Its name in the document, unless another scheme took the default first. */
  readonly schemeName: string;
  /** @internal */
  readonly [IS_NAMED]: boolean;
  /** Its Security Scheme Object in a document. */
  readonly definition: SecuritySchemeObject;
  /** `true` where it refuses a request without usable credentials. */
  readonly autoError: boolean;
  /** `WWW-Authenticate` of its 401. */
  readonly challenge: string;

  /** Another scheme that the document lists if it lists this one: by it, a person gets the credentials. No route requires it. */
  declare readonly beside?: SecurityScheme;

  /** @internal */
  readonly [FIND_CREDENTIALS]: CredentialsFinder;

  constructor(
    options: SchemeOptions<AutoError> | WithAuthError<SchemeOptions<AutoError>>,
    parts: SchemeParts<Credentials>,
  ) {
    const { autoError = true, schemeName = parts.defaultName, description } = options;
    const { source, challenge, verify } = parts;
    const isRequired = autoError !== false;
    const makeError = typeof autoError === "function" ? autoError : null;
    const valueOf = compileValue(parts, isRequired);
    const isOwn = compileIsOwn(parts);
    const refuse = ({ connection }: SchemeArgs) => {
      if (makeError && connection) throw makeError(connection);
      throw new HTTPException(401, "Not authenticated", { headers: { "WWW-Authenticate": challenge } });
    };
    const call = (args: SchemeArgs) =>
      onlyOf(args.sent, (text) => valueOf(text, args.asked)) ?? (isRequired ? refuse(args) : null);
    Object.defineProperty(call, "name", { value: schemeName });
    const params = verify === undefined ? { sent: source } : { sent: source, asked: SecurityScopes };
    super(withParams(makeError === null ? params : { ...params, connection: HTTPConnection }, call));
    this.schemeName = schemeName;
    this[IS_NAMED] = options.schemeName !== undefined;
    this.definition = Object.freeze({ ...parts.definition, ...(description === undefined ? {} : { description }) });
    this.autoError = isRequired;
    this.challenge = challenge;
    this[FIND_CREDENTIALS] = (args) => {
      const given = args as SchemeArgs;
      const isSent = given.sent.some(isOwn);
      if (isSent && onlyOf<unknown>(given.sent, parts.parse) === null) refuse(given);
      return isSent;
    };
  }
}

/** The place of the API key that a dependency reads, with a header in lower case; `null` for any other dependency. */
export function apiKeyPlaceOf(callable: unknown): { in: "header" | "query" | "cookie"; name: string } | null {
  const definition = callable instanceof SecurityScheme ? callable.definition : null;
  if (definition?.type !== "apiKey") return null;
  const { in: place, name } = definition;
  return { in: place, name: place === "header" ? name.toLowerCase() : name };
}
