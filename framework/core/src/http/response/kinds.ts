/** Responses of one media type each: JSON, HTML, text, and redirects. @module */
import { encodeUTF8 } from "../../protocol/header-list.js";
import { Response, type ResponseOptions } from "./response.js";

/**
 * A JSON response.
 *
 * @example
 * ```ts
 * import { JSONResponse } from "tsgi";
 *
 * new JSONResponse({ accepted: true }, { statusCode: 202 });
 * ```
 */
export class JSONResponse extends Response {
  /** @throws TypeError when the content has no JSON form: a `bigint`, a cycle. */
  constructor(content: unknown, options: ResponseOptions = {}) {
    super(encodeUTF8(JSON.stringify(content) ?? "null"), { mediaType: "application/json", ...options });
  }
}

/**
 * An HTML response. The text is sent unchanged, so escape text from clients.
 *
 * @example
 * ```ts
 * import { App, HTMLResponse } from "tsgi";
 *
 * const app = new App();
 * app.get("/", async () => new HTMLResponse("<h1>Hello</h1>"));
 * ```
 */
export class HTMLResponse extends Response {
  constructor(content: string | Uint8Array, options: ResponseOptions = {}) {
    super(content, { mediaType: "text/html", ...options });
  }
}

/**
 * A response with the media type `text/plain`.
 *
 * @example
 * ```ts
 * import { App, PlainTextResponse } from "tsgi";
 *
 * const app = new App();
 * app.get("/version", async () => new PlainTextResponse("1.0.0"));
 * ```
 */
export class PlainTextResponse extends Response {
  constructor(content: string | Uint8Array, options: ResponseOptions = {}) {
    super(content, { mediaType: "text/plain", ...options });
  }
}

/**
 * Sends the client to another address. The status defaults to 307, which keeps method and body.
 *
 * @example
 * ```ts
 * import { App, RedirectResponse } from "tsgi";
 *
 * const app = new App();
 * app.get("/old", async () => new RedirectResponse("/new", { statusCode: 308 }));
 * ```
 */
export class RedirectResponse extends Response {
  /**
   * @param url - The target; text that is not a valid URL is percent-encoded.
   * @throws TypeError when it has a control character.
   */
  constructor(url: string | URL, options: Omit<ResponseOptions, "mediaType"> = {}) {
    super(null, { statusCode: 307, ...options });
    this.headers.set("location", encodeLocation(String(url)));
  }
}

/** Percent-encodes characters that are not valid in a URI, and does not encode twice. */
function encodeLocation(url: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(url)) {
    throw new TypeError(`The redirect target ${JSON.stringify(url)} has a control character.`);
  }
  return encodeURI(url).replaceAll(/%25([0-9A-Fa-f]{2})/g, "%$1");
}
