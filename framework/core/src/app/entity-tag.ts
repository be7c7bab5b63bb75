/** The route option `etag`: tags of results, and the responses 304 and 412. @module */
import { sendWhole, responseFacts } from "../protocol/response.js";
import type { HTTPScope, Send } from "../protocol/asgi.js";
import { sha256 } from "../common/digest.js";
import { configurationError, HTTPException } from "../common/exceptions.js";
import { evaluateConditions, parseHTTPDate, tagOf, type Verdict } from "../http/response/conditions.js";
import { describesBody } from "../http/response/headers.js";
import { NO_BYTES, type Response } from "../http/response/response.js";
import type { Request } from "../http/request.js";
import { HeaderList } from "../protocol/header-list.js";
import type { RouteOptions, StreamFormat } from "../routing/options.js";
import { changingHeaders } from "../middleware/layer.js";
import { sendJSON, withDraft } from "./result.js";

/** @throws ConfigurationError for a route whose results cannot have a tag. */
export function assertTaggable(method: string, { etag }: RouteOptions, stream: StreamFormat | null): void {
  if (etag !== true) return;
  if (method !== "GET") throw configurationError("TSGI_ETAG_WITHOUT_RESULT.method", method);
  if (stream !== null) throw configurationError("TSGI_ETAG_WITHOUT_RESULT.stream");
}

/** The result of a route, ready to be sent. */
interface TaggedResult {
  readonly scope: HTTPScope;
  readonly send: Send;
  readonly request: Request;
  readonly status: number;
  readonly text: string;
  /** The injected `Response`, or `null`. */
  readonly draft: Response | null;
}

/**
 * Sends a result with its `ETag`, or 304 without it.
 *
 * @throws HTTPException 412 if a condition of the request is not met.
 * @see RFC 9110 §8.8.3 and §13.2
 */
export function sendTagged(result: TaggedResult): Promise<void> | void {
  const { status, text, draft } = result;
  // RFC 9110 §13.2.1: conditions are ignored if the response without them is not a success.
  if (status < 200 || status > 299 || responseFacts(status, "GET").bodyless) return sendResult(result, null);
  const own = draft?.headers.get("etag");
  if (own !== undefined) return sendIfNeeded(result, own);
  const digest = sha256(text);
  return typeof digest === "string"
    ? sendIfNeeded(result, tagOf(digest))
    : digest.then((late) => sendIfNeeded(result, tagOf(late)));
}

function sendIfNeeded(result: TaggedResult, etag: string): Promise<void> | void {
  const { request, send, draft } = result;
  const date = draft?.headers.get("last-modified");
  const lastModified = date === undefined ? null : parseHTTPDate(date);
  const verdict: Verdict = evaluateConditions(request, { etag, lastModified });
  if (verdict === "failed") throw new HTTPException(412);
  if (verdict === "send") return sendResult(result, etag);
  const kept = [...(draft?.headers ?? [])].filter(([name]) => !describesBody(name) && name !== "etag");
  return sendWhole({ send }, 304, new HeaderList([...kept.flat(), "etag", etag]), NO_BYTES);
}

function sendResult({ scope, send, status, text, draft }: TaggedResult, etag: string | null): Promise<void> | void {
  const drafted = draft === null ? send : withDraft(send, draft, true);
  const { bodyless } = responseFacts(status, "GET");
  return sendJSON(
    { scope, send: etag === null ? drafted : changingHeaders(drafted, (headers) => void headers.set("etag", etag)) },
    status,
    text,
    bodyless,
  );
}
