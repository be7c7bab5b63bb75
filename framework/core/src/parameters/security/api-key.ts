/** API keys in a header, the query string or a cookie. @module */
import { configurationError } from "../../common/exceptions.js";
import { isToken } from "../../protocol/http-grammar.js";
import { ANYTHING, assertOptions } from "../../common/options.js";
import { Cookie, Header, Query } from "../head.js";
import type { Marker, ParamFunction, Place } from "../marker.js";
import { t } from "../../schema/schema.js";
import { SCHEME_OPTIONS, type SchemeOptions, SecurityScheme, type WithAuthError } from "./scheme.js";

/** The options of `APIKeyHeader`, `APIKeyQuery` and `APIKeyCookie`. */
export interface APIKeyOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** The name of the header, the query parameter or the cookie. */
  name: string;
}

const MARKERS: Record<"header" | "query" | "cookie", ParamFunction<Place>> = {
  header: Header,
  query: Query,
  cookie: Cookie,
};

/** A key that the client sends under a configurable name. */
class APIKey<AutoError extends boolean> extends SecurityScheme<string, AutoError> {
  constructor(
    options: APIKeyOptions<AutoError> | WithAuthError<APIKeyOptions<AutoError>>,
    place: keyof typeof MARKERS,
    defaultName: string,
  ) {
    assertOptions(`new ${defaultName}()`, options, { ...SCHEME_OPTIONS, name: ANYTHING });
    const { name } = options;
    if (typeof name !== "string" || name === "" || (place !== "query" && !isToken(name))) {
      throw configurationError(
        "TSGI_MISSING_API_KEY_NAME",
        defaultName,
        place === "query" ? "query parameter" : place,
        place === "header" ? "X-API-Key" : "api_key",
      );
    }
    const source: Marker<readonly string[]> = MARKERS[place](t.Array(t.String()), {
      alias: name,
      default: [],
      includeInSchema: false,
    });
    super(options, {
      defaultName,
      definition: { type: "apiKey", in: place, name },
      source,
      parse: (text) => (text === "" ? null : text),
      // No registered scheme says it, and a 401 without a challenge would break RFC 9110 §15.5.2.
      challenge: "APIKey",
    });
  }
}

/**
 * A key in a header. Gives the key.
 *
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { APIKeyHeader } from "tsgi/security";
 *
 * const apiKey = new APIKeyHeader({ name: "X-API-Key" });
 * const app = new App();
 * app.get("/usage", { params: { key: Depends(apiKey) } }, async ({ key }) => ({ length: key.length }));
 * ```
 */
export class APIKeyHeader<AutoError extends boolean = true> extends APIKey<AutoError> {
  /** @throws ConfigurationError when the name is not one of a header. */
  constructor(options: WithAuthError<APIKeyOptions<AutoError>>);
  constructor(options: APIKeyOptions<AutoError>);
  constructor(options: APIKeyOptions<AutoError> | WithAuthError<APIKeyOptions<AutoError>>) {
    super(options, "header", "APIKeyHeader");
  }
}

/**
 * A key in the query string, where logs and histories keep it: for what cannot send headers. Gives the key.
 *
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { APIKeyQuery } from "tsgi/security";
 *
 * const apiKey = new APIKeyQuery({ name: "key" });
 * const app = new App();
 * app.get("/usage", { params: { key: Depends(apiKey) } }, async ({ key }) => ({ length: key.length }));
 * ```
 */
export class APIKeyQuery<AutoError extends boolean = true> extends APIKey<AutoError> {
  /** @throws ConfigurationError without a name. */
  constructor(options: WithAuthError<APIKeyOptions<AutoError>>);
  constructor(options: APIKeyOptions<AutoError>);
  constructor(options: APIKeyOptions<AutoError> | WithAuthError<APIKeyOptions<AutoError>>) {
    super(options, "query", "APIKeyQuery");
  }
}

/**
 * A key in a cookie. Gives the key. Browsers send cookies by themselves: a form of another site's may do so as well.
 * Two cookies of the same name are ignored, because a neighboring host can set one; this does not apply to names with
 * the prefix `__Host-`.
 *
 * @see {@link https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis | Cookies, §4.1.3.2}
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { APIKeyCookie } from "tsgi/security";
 *
 * const apiKey = new APIKeyCookie({ name: "__Host-key" });
 * const app = new App();
 * app.get("/usage", { params: { key: Depends(apiKey) } }, async ({ key }) => ({ length: key.length }));
 * ```
 */
export class APIKeyCookie<AutoError extends boolean = true> extends APIKey<AutoError> {
  /** @throws ConfigurationError when the name is not one of a cookie. */
  constructor(options: WithAuthError<APIKeyOptions<AutoError>>);
  constructor(options: APIKeyOptions<AutoError>);
  constructor(options: APIKeyOptions<AutoError> | WithAuthError<APIKeyOptions<AutoError>>) {
    super(options, "cookie", "APIKeyCookie");
  }
}
