/** `cors`: which pages of other origins may read the responses. @module */
import type { HTTPScope, Send } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { headerValues } from "../protocol/header-list.js";
import { configurationError } from "../common/exceptions.js";
import { isOrigin, isToken, parseList } from "../protocol/http-grammar.js";
import { addVary, ResponseHeaders } from "../http/response/headers.js";
import { Response } from "../http/response/response.js";
import { changingHeaders, onHTTP, refuse } from "./layer.js";
import { ANYTHING, assertOptions, expecting, FLAG, type OptionRules, whole } from "../common/options.js";

/** Decides on an origin as a browser sends it. */
type OriginTest = (origin: string) => boolean | Promise<boolean>;

/** One origin, or an expression that matches a whole one. */
type OriginEntry = string | RegExp;

/** A rule for origins: every page (`"*"`), those listed, those that match, those that a function lets in. */
type OriginRule = OriginEntry | readonly OriginEntry[] | OriginTest;

/** Longer than any scheme, host and port. Attack: a longer text would cost the time of an expression. */
const MAX_LENGTH = 300;

/**
 * Makes a test of a rule; `null` for every page.
 *
 * @throws ConfigurationError for an entry that no browser sends, or that is more than it seems.
 */
function compileOrigins(rule: OriginRule): OriginTest | null {
  if (typeof rule === "function") return (origin) => origin.length <= MAX_LENGTH && rule(origin);
  const entries: unknown = typeof rule === "string" || rule instanceof RegExp ? [rule] : rule;
  if (!Array.isArray(entries)) throw configurationError("TSGI_MISSING_CORS_ORIGINS", rule);
  if (entries.includes("*")) {
    if (entries.length === 1) return null;
    throw configurationError("TSGI_INVALID_CORS_ORIGIN.all");
  }
  const origins = new Set<string>();
  const expressions: RegExp[] = [];
  for (const entry of entries as readonly unknown[]) {
    if (entry instanceof RegExp) expressions.push(wholeOnly(entry));
    else origins.add(assertOrigin(entry));
  }
  return (origin) =>
    origins.has(origin) || (origin.length <= MAX_LENGTH && expressions.some((expression) => expression.test(origin)));
}

/** `/https:\/\/example\.com/` would let in `https://example.com.evil.net`: it has to match from end to end. */
function wholeOnly({ source, flags }: RegExp): RegExp {
  return new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ""));
}

/** @throws ConfigurationError for a value that a browser would never send as `Origin`. */
function assertOrigin(entry: unknown): string {
  if (entry === "null") throw configurationError("TSGI_INVALID_CORS_ORIGIN.null");
  if (isOrigin(entry)) return entry;
  throw configurationError("TSGI_INVALID_CORS_ORIGIN.form", entry);
}

/** Options of `cors`. */
export interface CORSOptions {
  /**
   * Origins whose pages may read the responses: `"*"` for every page, or origins as browsers send them
   * (`"https://example.com"`), expressions that match a whole origin, or a function that decides.
   */
  allowOrigins: OriginRule;
  /** The methods in addition to the simple ones, `"*"` for any. Defaults to `GET HEAD PUT PATCH POST DELETE`. */
  allowMethods?: "*" | readonly string[];
  /**
   * The request headers in addition to `Accept`, `Accept-Language`, `Content-Language`, `Content-Type`; `"*"` for any.
   * Empty by default.
   */
  allowHeaders?: "*" | readonly string[];
  /** Lets the browser send cookies and `Authorization`. Not possible with `"*"`. Defaults to `false`. */
  allowCredentials?: boolean;
  /**
   * The response headers that scripts may read; `"*"` for all, without credentials. Only the simple ones by default.
   */
  exposeHeaders?: "*" | readonly string[];
  /** Seconds for which a browser may remember a preflight. Defaults to 600. */
  maxAge?: number;
  /** Lets pages of public addresses reach a server on a private network. Defaults to `false`. */
  allowPrivateNetwork?: boolean;
}

const NAMES = expecting('a list of names, or "*"', (value) => {
  return value === "*" || (Array.isArray(value) && value.every((name) => typeof name === "string" && isToken(name)));
});

const OPTIONS: OptionRules<CORSOptions> = {
  allowOrigins: ANYTHING,
  allowMethods: NAMES,
  allowHeaders: NAMES,
  allowCredentials: FLAG,
  exposeHeaders: NAMES,
  maxAge: whole(0),
  allowPrivateNetwork: FLAG,
};

const DEFAULT_METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"];

/** Fetch, CORS-safelisted methods: pages send them without a preflight, so rejecting them in one has no effect. */
const SIMPLE_METHODS = new Set(["GET", "HEAD", "POST"]);

/** Always allowed. `Content-Type` is named too, since a JSON one needs a preflight. */
const SIMPLE_HEADERS = ["Accept", "Accept-Language", "Content-Language", "Content-Type"];

/** The headers of a preflight. */
const PREFLIGHT_VARY = [
  "Origin",
  "Access-Control-Request-Method",
  "Access-Control-Request-Headers",
  "Access-Control-Request-Private-Network",
];

type Rules = ReturnType<typeof compile>;

/**
 * Lets pages of other origins read the responses of the application. The middleware responds to preflights: with 204
 * and the allowed values, or with 400 and the reason. It adds headers to every other response, including errors.
 *
 * @throws ConfigurationError for an option that could not work, or would let in more than it says.
 * @see {@link https://fetch.spec.whatwg.org/#http-cors-protocol | Fetch, CORS protocol}
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { cors } from "tsgi/middleware";
 *
 * const app = new App();
 * app.addMiddleware(cors({ allowOrigins: ["https://example.com"], allowCredentials: true }));
 * ```
 */
export function cors(options: CORSOptions): Middleware {
  const rules = compile(options);
  return onHTTP((app) => (scope, receive, send) => {
    const origin = only(scope, "origin");
    const serve = (isAllowed: boolean) => {
      const allowed = !isAllowed ? null : rules.isAllowed === null ? "*" : (origin ?? null);
      const method = scope.method === "OPTIONS" ? only(scope, "access-control-request-method") : undefined;
      if (origin !== undefined && method !== undefined) {
        return respondToPreflight(scope, send, { ...rules, allowed, method });
      }
      return app(
        scope,
        receive,
        changingHeaders(send, (headers) => addHeaders(headers, rules, allowed)),
      );
    };
    const isAllowed = rules.isAllowed === null || (origin !== undefined && rules.isAllowed(origin));
    return typeof isAllowed === "boolean" ? serve(isAllowed) : Promise.resolve(isAllowed).then(serve);
  });
}

/** The value of a header that is sent once; `undefined` for a repeated one. */
function only(scope: HTTPScope, name: string): string | undefined {
  const values = headerValues(scope.headers ?? [], name);
  return values.length === 1 ? values[0] : undefined;
}

function addHeaders(headers: ResponseHeaders, rules: Rules, allowed: string | null): void {
  // Also on responses to other origins: a cache must not send them to allowed ones.
  if (rules.isAllowed !== null) addVary(headers, "Origin");
  if (allowed === null) return;
  headers.set("access-control-allow-origin", allowed);
  if (rules.credentials) headers.set("access-control-allow-credentials", "true");
  if (rules.expose !== "") headers.set("access-control-expose-headers", rules.expose);
}

/** A preflight request: the rules, the origin that they allow, and the method that it asks for. */
type Preflight = Rules & { readonly allowed: string | null; readonly method: string };

async function respondToPreflight(scope: HTTPScope, send: Send, preflight: Preflight): Promise<void> {
  const { allowed, method, ...rules } = preflight;
  const asked = parseList(headerValues(scope.headers ?? [], "access-control-request-headers").join(","));
  const headers = new ResponseHeaders({ vary: PREFLIGHT_VARY.join(", ") });
  const refused = refusedParts(preflight, asked);
  if (allowed !== null) headers.set("access-control-allow-origin", allowed);
  if (refused.length > 0)
    return refuse(scope, send, { statusCode: 400, detail: `Disallowed CORS ${refused.join(", ")}`, headers });
  headers.set("access-control-allow-methods", (rules.methods ?? [method]).join(", "));
  const names = rules.headers ?? asked;
  if (names.length > 0) headers.set("access-control-allow-headers", names.join(", "));
  headers.set("access-control-max-age", rules.maxAge);
  if (rules.credentials) headers.set("access-control-allow-credentials", "true");
  if (rules.privateNetwork && only(scope, "access-control-request-private-network") === "true") {
    headers.set("access-control-allow-private-network", "true");
  }
  await new Response(null, { statusCode: 204, headers }).send(send);
}

function refusedParts({ allowed, method, ...rules }: Preflight, asked: readonly string[]): string[] {
  const known = rules.headers && new Set(rules.headers.map((name) => name.toLowerCase()));
  const isMethod = rules.methods ? rules.methods.includes(method) || SIMPLE_METHODS.has(method) : isToken(method);
  const areHeaders = asked.every((name) => (known ? known.has(name.toLowerCase()) : isToken(name)));
  return [...(allowed === null ? ["origin"] : []), ...(isMethod ? [] : ["method"]), ...(areHeaders ? [] : ["headers"])];
}

function compile(options: CORSOptions) {
  assertOptions("cors()", options, OPTIONS);
  const { allowCredentials: credentials = false, maxAge = 600, allowPrivateNetwork: privateNetwork = false } = options;
  /** `null` for every page, without credentials: the response does not depend on the origin then. */
  const isAllowed = compileOrigins(options.allowOrigins);
  const methods = namesIn("allowMethods", options.allowMethods ?? DEFAULT_METHODS);
  const headers = namesIn("allowHeaders", options.allowHeaders);
  const expose = namesIn("exposeHeaders", options.exposeHeaders);
  if (credentials) {
    if (isAllowed === null) throw configurationError("TSGI_CORS_CREDENTIALS_FOR_ALL.origins");
    if (expose === null) throw configurationError("TSGI_CORS_CREDENTIALS_FOR_ALL.headers");
  }
  return {
    isAllowed,
    credentials,
    methods: methods && methods.map((method) => method.toUpperCase()),
    headers: headers && [...new Set([...SIMPLE_HEADERS, ...headers])],
    expose: expose?.join(", ") ?? "*",
    maxAge: String(maxAge),
    privateNetwork,
  };
}

/** The names of a list; `null` for `"*"`. @throws ConfigurationError for a list of `"*"` and names. */
function namesIn(option: string, given: "*" | readonly string[] = []): readonly string[] | null {
  if (given === "*" || (given.length === 1 && given[0] === "*")) return null;
  if (given.includes("*")) throw configurationError("TSGI_CORS_STAR_IN_LIST", option);
  return given;
}
