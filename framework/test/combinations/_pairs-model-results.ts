/** The part of the reference model about the response of a handler that succeeds. @module */
import type { Answer, ExpectedBody } from "./_pairs-expected.js";
import { type Combination, isResponse } from "./_pairs-factors.js";
import { valueOf } from "./_pairs-model-parameters.js";
import { FILE_TEXT } from "./_pairs-samples.js";

/** responses.md: HEAD, 204, 205 and 304 have no body. */
export function hasNoBody({ method }: Combination, status: number): boolean {
  return method === "HEAD" || status === 204 || status === 205 || status === 304;
}

/** responses.md, the table of the classes. */
const MEDIA_TYPES: Readonly<Partial<Record<Combination["result"] | Combination["stream"], string>>> = {
  "stream response": "text/plain",
  "platform stream": "text/plain",
  file: "text/plain",
  "event response": "text/event-stream",
  sse: "text/event-stream",
  jsonl: "application/jsonl",
  breaks: "application/jsonl",
};

/** responses.md, ETag: results have a tag, but not returned responses. A 204 and a 205 have no content to tag. */
export function isTagged({ etag, result, status, draft }: Combination): boolean {
  const isEmpty = (status === "204" || status === "205") && draft !== "status";
  return etag !== "off" && !isResponse(result) && !isEmpty;
}

/** middleware.md, compress: a compressed response has a weak tag. A file has its own tag. Undecided: the tag of a 304. */
function tagOf(c: Combination): Answer["headers"] {
  if (c.etag === "off" || c.result === "file") return {};
  if (!isTagged(c)) return { etag: null };
  if (c.middleware === "compress") return c.etag === "known" ? {} : { etag: 'W/"' };
  return { etag: '"' };
}

/** @param isStarted - Whether the handler has run: a generator does not for HEAD. */
export function success(c: Combination, isStarted: boolean): Answer {
  const isOwn = isResponse(c.result);
  const hasDraft = c.draft === "by a dependency" || (c.draft === "header and cookie" && isStarted);
  const isChanged = c.draft === "status" && isStarted && !isOwn;
  const status = c.result === "redirect" ? 307 : isChanged ? 202 : Number(c.status);
  const headers: Record<string, string | null> = isOwn ? { "x-own": "1" } : {};
  if (c.result === "redirect") headers["location"] = "/new";
  else if (status !== 204 && status !== 205) {
    headers["content-type"] = MEDIA_TYPES[c.result] ?? MEDIA_TYPES[c.stream] ?? "application/json";
  }
  // "The draft's cookies are added"; undecided for one of the platform, which goes "out as it is".
  if (!c.result.startsWith("platform")) {
    headers["x-draft"] = hasDraft ? "1" : null;
    headers["set-cookie"] = hasDraft ? "seen=yes" : null;
  }
  Object.assign(headers, tagOf(c));
  const answer: Answer = { status, headers, body: bodyOf(c), errors: 0, isFailure: false };
  if (c.etag !== "known" || !isTagged(c)) return answer;
  // "A 304 has the headers of the injected `Response`, except those that describe the body."
  return { ...answer, status: 304, headers: { ...headers, "content-type": null } };
}

function bodyOf(c: Combination): ExpectedBody {
  const got = valueOf(c);
  switch (c.result) {
    case "nothing":
      return c.stream === "none" ? { json: null } : { items: [] };
    case "response":
    case "platform response":
      return { json: { own: got } };
    case "stream response":
    case "platform stream":
      return { text: "first second" };
    case "event response":
      return { items: [{ at: 1 }, { at: 2 }] };
    case "file":
      return { text: FILE_TEXT };
    case "redirect":
      return { text: "" };
    default: {
      const item = (n: number) => ({ got, user: userOf(c), dependency: dependencyOf(c), n, inner: { kept: true } });
      if (c.stream === "none") return { json: item(1) };
      return { items: c.stream === "breaks" ? [item(1)] : [item(1), item(2)] };
    }
  }
}

function userOf({ credentials, override }: Combination): string | null {
  if (credentials === "none") return null;
  if (override === "user") return "eve";
  if (credentials.startsWith("lenient")) return "nobody";
  return credentials === "required" || credentials === "optional" ? "ada" : null;
}

function dependencyOf(c: Combination): string | null {
  if (c.dependency === "none") return null;
  if (c.override === "dependency") return "replaced";
  return c.dependency === "of the user" ? `made for ${userOf(c)}` : "made";
}
