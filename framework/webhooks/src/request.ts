/** Sends one request to a receiver, within limits. @module */
import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { request as send } from "node:https";

/** The largest part of a response that is read. Attack: an endless body. */
const MAX_BODY_BYTES = 65_536;

/** The head of a response. */
export interface Head {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** A request whose addresses have been checked. */
export interface CheckedRequest {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Posts a body, without redirects, proxies and reused connections. Settles when the response is read or refused. */
export function post({ url, addresses, headers, body, signal }: CheckedRequest): Promise<Head> {
  return new Promise((resolve, reject) => {
    let head: Head | null = null;
    const request = send(url, {
      method: "POST",
      agent: false,
      signal,
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      lookup: (_host, { all }, callback) => {
        const [{ address, family } = { address: "", family: 0 }] = addresses;
        if (all) callback(null, [...addresses]);
        else callback(null, address, family);
      },
    });
    // However its body ends, the head has been received.
    const end = (error: Error) => (head === null ? reject(error) : resolve(head));
    request.on("error", end);
    request.once("close", () => end(new Error("The receiver closed the connection without a response")));
    request.once("response", (response) => {
      head = { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] };
      drain(response);
    });
    request.end(body);
  });
}

function drain(response: IncomingMessage): void {
  let left = MAX_BODY_BYTES;
  response.on("error", () => {});
  response.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) response.destroy();
  });
}
