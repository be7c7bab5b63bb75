/** Logins that fail: the status, one line in the log, and a page for people. @module */
import { AuthorizationResponseError, ResponseBodyError } from "openid-client";
import { HTMLResponse, type HTTPConnection, HTTPException } from "tsgi";
import { errorChain, isRecord, loggerOf, oneLine, statusPhrase } from "tsgi/internals";
import { ProviderAwayError } from "./provider.js";

const DETAILS = {
  400: "The login failed. Please try again.",
  502: "The identity provider sent an invalid response.",
  503: "The identity provider is unavailable.",
} as const;

/** Makes the error of a login, which never contains text of the provider. */
export function loginFailure(statusCode: keyof typeof DETAILS): HTTPException {
  return new HTTPException(statusCode, DETAILS[statusCode], { headers: { "Cache-Control": "no-store" } });
}

/** The longest text of a provider or a browser that is logged. */
const MAX_REASON = 300;

/** A request to the provider, or a check of its response. Its error becomes a 400, 502 or 503 with one line in the log. */
export async function ask<T>(connection: HTTPConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const status = statusOf(error);
    report(connection, status, error);
    throw loginFailure(status);
  }
}

/** Writes the one line of a failure. It has messages only: the objects in the errors of the libraries have codes and claims. */
export function report({ scope, path }: HTTPConnection, status: number, error: unknown): void {
  const messages = errorChain(error).flatMap(({ error: one }) => {
    if (!(one instanceof Error)) return [];
    const isOAuth = one instanceof ResponseBodyError || one instanceof AuthorizationResponseError;
    return isOAuth ? [one.message, one.error] : [one.message];
  });
  const reason = oneLine([...new Set(messages)].join(": ").slice(0, MAX_REASON));
  loggerOf(scope.app).warn({ path, status }, `A login failed with ${status}: ${reason}`);
}

function statusOf(error: unknown): keyof typeof DETAILS {
  const chain = errorChain(error).map(({ error: one }) => one);
  if (chain.some((one) => one instanceof ProviderAwayError)) return 503;
  return chain.some(isFromBrowser) ? 400 : 502;
}

/** A code that is not valid, and parameters of the callback that the library has rejected, were sent by the browser. */
function isFromBrowser(error: unknown): boolean {
  if (isRefusal(error) || error instanceof AuthorizationResponseError) return true;
  return isRecord(error) && error["parameters"] instanceof URLSearchParams;
}

/** Tells if the provider has rejected a code or a refresh token (RFC 6749 §5.2). */
export function isRefusal(error: unknown): boolean {
  return error instanceof ResponseBodyError && error.error === "invalid_grant";
}

/** Tells if a browser opens a page, rather than a script or another program that sends a request (Fetch Metadata §2.3). */
export function isNavigation({ scope, headers }: HTTPConnection): boolean {
  if (scope.type !== "http" || scope.method !== "GET") return false;
  const mode = headers["sec-fetch-mode"];
  return mode === undefined ? /\btext\/html\b/i.test(headers["accept"] ?? "") : mode === "navigate";
}

/** The page of an error, which is not built from any text of the request. */
export function pageOf({ statusCode, detail, headers }: HTTPException, loginURL: string): HTMLResponse {
  const title = statusPhrase(statusCode);
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><h1>${title}</h1><p>${String(detail)}</p>
<p><a href="${loginURL}">Log in</a></p></html>\n`;
  const policy = { "Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer" };
  return new HTMLResponse(page, { statusCode, headers: { ...headers, ...policy } });
}
