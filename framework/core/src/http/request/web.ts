/** Requests as instances of the platform's `Request`. @module */
import type { HTTPScope } from "../../protocol/asgi.js";
import { decodeLatin1, encodeLatin1 } from "../../protocol/bytes.js";
import { decodeUTF8, encodeUTF8, isASCII, textAt } from "../../protocol/header-list.js";
import { parseList } from "../../protocol/http-grammar.js";

let isText: boolean | null = null;

/**
 * `true` where values of the platform's headers are text, as on workerd, which decodes them as UTF-8. Elsewhere each
 * character is a byte: Fetch §2.2.2.
 */
function areText(): boolean {
  if (isText === null) {
    try {
      isText = new Headers([["a", "\u{2603}"]]).has("a");
    } catch {
      isText = false;
    }
  }
  return isText;
}

/** Names and values in turn, as {@link HeaderList.raw} has them. */
export function fromWebHeaders(headers: Headers): string[] {
  const raw: string[] = [];
  headers.forEach((value, name) => raw.push(name, valueFromWeb(value)));
  return raw;
}

/** The bytes of a value as latin-1 text. */
export function valueFromWeb(value: string): string {
  return isASCII(value) || !areText() ? value : decodeLatin1(encodeUTF8(value));
}

/**
 * The platform's headers of names and values in turn.
 *
 * @throws TypeError for a name or a value that HTTP does not allow.
 */
export function toWebHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.append(textAt(raw, index), valueToWeb(textAt(raw, index + 1)));
  }
  return headers;
}

/** A value of the platform with the bytes of latin-1 text. */
export function valueToWeb(value: string): string {
  return isASCII(value) || !areText() ? value : (decodeUTF8(encodeLatin1(value)) ?? value);
}

/** Fields for only the next server: RFC 9110 §7.6.1, §10.1.1; for the authentication of proxies RFC 2616 §13.5.1. */
const HOP_BY_HOP: readonly string[] = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Removes the fields that a forwarded message must not have, including the ones that its `Connection` lists. */
export function endToEnd(raw: readonly string[]): string[] {
  const nameAt = (index: number): string => textAt(raw, index & ~1).toLowerCase();
  const dropped = new Set(HOP_BY_HOP);
  for (let index = 0; index < raw.length; index += 2) {
    if (nameAt(index) !== "connection") continue;
    for (const name of parseList(textAt(raw, index + 1))) dropped.add(name.toLowerCase());
  }
  return raw.filter((_, index) => !dropped.has(nameAt(index)));
}

/**
 * Segments that the platform's URL resolves, and characters that it takes for a slash. Attack: below `/public`, a target
 * such as `/public/../admin` passes every guard of the application as it is, and would be `/admin` in a platform's request.
 */
const RESOLVED_BY_URL = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)|\\/i;

/** The detail of the 400 for such a path. */
export const DOT_SEGMENT = "The path has a dot segment or a backslash";

/** Tells if a URL of the platform would have another path than the request. */
export function isResolvedByURL({ path, raw_path: rawPath }: Pick<HTTPScope, "path" | "raw_path">): boolean {
  return RESOLVED_BY_URL.test(rawPath === undefined ? path : decodeLatin1(rawPath));
}

/** The parts of a request of this framework that are needed to convert it to one of the platform. */
interface Source {
  readonly method: string;
  readonly url: URL;
  readonly signal: AbortSignal;
  stream(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** Methods whose requests have no body on the platform: Fetch §5.4. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Makes a request of the platform, whose body is read when it is asked for. */
export function toWebRequest(source: Source, headers: Headers): globalThis.Request {
  const request = create(source, headers);
  // The platform's signal follows this one only while its request is in use: a listener keeps the request.
  source.signal.addEventListener("abort", () => void request.signal, { once: true });
  return request;
}

function create(source: Source, headers: Headers): globalThis.Request {
  const { method, url, signal } = source;
  if (WITHOUT_BODY.has(method)) return new globalThis.Request(url, { method, headers, signal });
  const chunks = source.stream();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await chunks.return()),
    },
    { highWaterMark: 0 },
  );
  // Fetch §5.4: a stream as the body must state that the response may arrive before its end is sent.
  const init: RequestInit & { duplex: "half" } = { method, headers, signal, body, duplex: "half" };
  return new globalThis.Request(url, init);
}
