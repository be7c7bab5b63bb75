/** The base class of security schemes. @module */
import { CallableInstance } from "../../protocol/callable.js";
import { HTTPException } from "../../common/exceptions.js";
import { FLAG, type OptionRules, TEXT } from "../../common/options.js";
import { type CredentialsFinder, FIND_CREDENTIALS } from "../credentials.js";
import type { Marker } from "../marker.js";
import { type PARAMS, withParams } from "../annotation.js";
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
   * `true` refuses a request without usable credentials with 401. With `false` the dependency gives `null` then, and
   * who asked for it decides. Defaults to `true`.
   */
  autoError?: AutoError;
  /** Its name in the document. Defaults to the name of its class. */
  schemeName?: string;
  /** Markdown for the document. */
  description?: string | undefined;
}

/** Rules of the options of every scheme; those of one alone come beside them. */
export const SCHEME_OPTIONS: OptionRules<SchemeOptions> = { autoError: FLAG, schemeName: TEXT, description: TEXT };

/** The rules of one kind of scheme, for classes that extend `SecurityScheme`. */
export interface SchemeParts<Credentials> {
  /** Its name in the document where no `schemeName` is given. */
  readonly defaultName: string;
  readonly definition: SecuritySchemeObject;
  /** Reads the credentials: every value that was sent under the name. */
  readonly source: Marker<readonly string[]>;
  /** Makes credentials of the one value; `null` where it holds none. */
  readonly parse: (text: string) => Credentials | null;
  /** `WWW-Authenticate` of a 401, which RFC 9110 §15.5.2 requires. */
  readonly challenge: string;
}

/** The argument of a scheme: the values from the request. */
export interface SchemeArgs {
  readonly sent: readonly string[];
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
function compileIsOwn({ source, challenge, definition }: SchemeParts<unknown>): (value: string) => boolean {
  const marker: unknown = source;
  const isAuthorization =
    marker instanceof SourceMarker && marker.source.in === "header" && marker.wireName("") === "authorization";
  if (!isAuthorization || definition.type === "apiKey") return () => true;
  const wordOf = (text: string) => /^[ \t]*([^ \t]*)/.exec(text)?.[1]?.toLowerCase();
  const word = wordOf(challenge);
  return (value) => value.split(",").some((part) => wordOf(part) === word);
}

/** `true` where the name of a scheme was given, so that a document may not change it. */
export const IS_NAMED: unique symbol = Symbol("isNamed");

/**
 * The base of all security schemes: a dependency that takes the credentials out of a request or a WebSocket's handshake, and
 * that a document lists under `securitySchemes`.
 *
 * Credentials that come twice are none: of two headers a proxy may have looked at the other one.
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

  /** @internal */
  readonly [FIND_CREDENTIALS]: CredentialsFinder;

  constructor(options: SchemeOptions<AutoError>, parts: SchemeParts<Credentials>) {
    const { autoError = true, schemeName = parts.defaultName, description } = options;
    const { challenge, parse } = parts;
    const read = ({ sent }: SchemeArgs, isRequired: boolean): Credentials | null => {
      const [only] = sent;
      const credentials = only !== undefined && sent.length === 1 ? parse(only) : null;
      if (credentials === null && isRequired) {
        throw new HTTPException(401, "Not authenticated", { headers: { "WWW-Authenticate": challenge } });
      }
      return credentials;
    };
    const isOwn = compileIsOwn(parts);
    const call = (args: SchemeArgs) => read(args, autoError);
    Object.defineProperty(call, "name", { value: schemeName });
    super(withParams({ sent: parts.source }, call));
    this.schemeName = schemeName;
    this[IS_NAMED] = options.schemeName !== undefined;
    this.definition = Object.freeze({ ...parts.definition, ...(description === undefined ? {} : { description }) });
    this.autoError = autoError;
    this.challenge = challenge;
    this[FIND_CREDENTIALS] = (args) => {
      const isSent = (args as SchemeArgs).sent.some(isOwn);
      if (isSent) read(args as SchemeArgs, true);
      return isSent;
    };
  }
}
