/** The parts of a request that openapi-fetch does not encode: forms and cookies. @module */
import type { Middleware } from "openapi-fetch";
import type { PathValues } from "./path.js";

/** The parts of a call's argument that are used here. */
export interface RequestInitParts {
  readonly body?: unknown;
  readonly headers?: RequestInit["headers"];
  readonly middleware?: readonly Middleware[];
  readonly params?: {
    readonly path?: PathValues;
    readonly header?: Readonly<Record<string, unknown>>;
    readonly cookie?: Readonly<Record<string, unknown>>;
  };
}

const CONTENT_TYPE = "content-type";
const URLENCODED = "application/x-www-form-urlencoded";

/** The fields of a form, or cookies, one by one: a list is one for each item. */
function fieldsOf(body: object): [string, unknown][] {
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one: unknown): [string, unknown][] =>
      one === undefined || one === null ? [] : [[name, one]],
    ),
  );
}

/** A `FormData`, with the type that has its boundary written by `fetch`. */
function multipart(fields: readonly [string, unknown][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (value instanceof Blob) form.append(name, value);
    else form.append(name, String(value));
  }
  return form;
}

/**
 * The body as it travels, for a form; `null` for JSON. A string can be either of the two; a header distinguishes them.
 */
function formOf(body: unknown, type: string): FormData | URLSearchParams | null {
  if (body instanceof FormData || body instanceof URLSearchParams) return body;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const fields = fieldsOf(body);
  if (type.startsWith(URLENCODED)) {
    return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]));
  }
  return type.startsWith("multipart/form-data") || fields.some(([, value]) => value instanceof Blob)
    ? multipart(fields)
    : null;
}

/** Cookies as a header: a browser sends its own, and ignores these. */
function cookieHeader(cookies: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  const pairs = fieldsOf(cookies ?? {});
  if (pairs.length === 0) return {};
  return { cookie: pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("; ") };
}

/** The argument of a call as openapi-fetch takes it. */
export function writeRequest(
  init: RequestInitParts,
): RequestInitParts & { bodySerializer?: (body: unknown) => unknown } {
  const { params } = init;
  const headers = new Headers(init.headers);
  const form = formOf(init.body, headers.get(CONTENT_TYPE)?.toLowerCase() ?? "");
  const request = params?.cookie
    ? { ...init, params: { ...params, header: { ...params.header, ...cookieHeader(params.cookie) } } }
    : init;
  if (form === null) return request;
  if (form instanceof FormData) headers.delete(CONTENT_TYPE);
  else headers.set(CONTENT_TYPE, URLENCODED);
  return { ...request, headers, body: form, bodySerializer: (body) => body };
}
