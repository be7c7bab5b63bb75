/** Requests as instances of the platform's `Request`. @module */
import type { HTTPScope } from "../../protocol/asgi.js";
import { decodeLatin1 } from "../../protocol/bytes.js";

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

/** A request of this framework, as far as it is made one of the platform. */
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
  // Fetch §5.4: a stream as the body has to say that the answer may come before its end is sent.
  const init: RequestInit & { duplex: "half" } = { method, headers, signal, body, duplex: "half" };
  return new globalThis.Request(url, init);
}
