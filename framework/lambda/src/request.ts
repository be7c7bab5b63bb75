/** The request of an event. @module */
import {
  createScope,
  ErrorResponse,
  isAuthority,
  isFieldValue,
  isToken,
  parseAddress,
  type ServerContext,
} from "tsgi/internals";
import type { HTTPScope } from "tsgi";
import { pairsOf, type ReadEvent, recordAt, textAt } from "./event.js";
import { targetOf } from "./target.js";

/** A request that may reach the application. */
export interface LambdaRequest {
  readonly scope: HTTPScope;
  readonly body: Uint8Array;
}

/** The host of an event without one, such as a test event of the console. */
const UNKNOWN_HOST = "localhost";

/** Names that describe the message on its way to AWS, and not the event. */
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
]);

const errors = {
  method: new ErrorResponse(400, "The method is malformed."),
  header: new ErrorResponse(400, "A header is malformed."),
  host: new ErrorResponse(400, "Expected exactly one well-formed Host header."),
  body: new ErrorResponse(400, "Expected the body of the event as a string."),
};

/**
 * Reads the request of an event.
 *
 * @param given - The arguments of the handler, for `scope.extensions["tsgi.lambda"]`.
 * @returns The request, or why it is rejected.
 */
export function toRequest(read: ReadEvent, given: object, server: ServerContext): LambdaRequest | ErrorResponse {
  if (!isToken(read.method)) return errors.method;
  const body = bodyOf(read.fields);
  if (body === null) return errors.body;
  const headers = headersOf(read, body.length);
  if (headers instanceof ErrorResponse) return headers;
  const head = {
    httpVersion: versionOf(read),
    method: read.method,
    target: targetOf(read),
    headers: headers.raw,
    extensions: { "tsgi.lambda": given },
  };
  return { body, scope: createScope(head, endpointsOf(read, headers), server) };
}

/** The bytes of the body; `null` if it is not a string. */
function bodyOf(fields: ReadEvent["fields"]): Uint8Array | null {
  const body = fields["body"] ?? "";
  if (typeof body !== "string") return null;
  return Buffer.from(body, fields["isBase64Encoded"] === true ? "base64" : "utf8");
}

/** The headers of a request. */
interface Headers {
  /** `[name, value, …]` */
  readonly raw: readonly string[];
  readonly host: string;
  readonly byName: ReadonlyMap<string, string>;
}

function headersOf({ fields, context }: ReadEvent, bodyBytes: number): Headers | ErrorResponse {
  const raw: string[] = [];
  const hosts: string[] = [];
  for (const [name, value] of linesOf(fields)) {
    if (!isToken(name) || !isFieldValue(value)) return errors.header;
    if (name === "host") hosts.push(value);
    else raw.push(name, value);
  }
  const [host = textAt(context, "domainName") ?? UNKNOWN_HOST] = hosts;
  if (hosts.length > 1 || !isAuthority(host)) return errors.host;
  if (bodyBytes > 0) raw.push("content-length", String(bodyBytes));
  return { raw: ["host", host, ...raw], host, byName: new Map(pairsIn(raw)) };
}

/** The header lines, with names in lower case. */
function* linesOf(fields: ReadEvent["fields"]): Generator<readonly [name: string, value: string]> {
  for (const [given, value] of pairsOf(fields, "multiValueHeaders", "headers")) {
    const name = given.toLowerCase();
    if (!FRAMING.has(name)) yield [name, toLatin1(value)];
  }
  const cookies = cookiesOf(fields);
  if (cookies !== "") yield ["cookie", cookies];
}

function* pairsIn(raw: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index] ?? "", raw[index + 1] ?? ""];
}

/** The cookies of payload format 2.0, which are not in its headers. */
function cookiesOf({ cookies }: ReadEvent["fields"]): string {
  const all: unknown[] = Array.isArray(cookies) ? cookies : [];
  return toLatin1(all.filter((cookie) => typeof cookie === "string").join("; "));
}

/** A header's bytes, each as one character. An event has its text decoded as UTF-8. */
function toLatin1(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

function versionOf({ context }: ReadEvent): string {
  const protocol = textAt(recordAt(context, "http"), "protocol") ?? textAt(context, "protocol") ?? "";
  return /^HTTP\/(1\.[01]|2)/.exec(protocol)?.[1] ?? "1.1";
}

function endpointsOf(event: ReadEvent, { host, byName }: Headers) {
  // A load balancer replaces this header. API Gateway and function URLs accept only TLS.
  const encrypted = !event.source.startsWith("alb") || byName.get("x-forwarded-proto") === "https";
  const client = clientOf(event, byName);
  const [, name = host, port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(host) ?? [];
  const server = name.replaceAll(/[[\]]/g, "");
  return {
    encrypted,
    client: client === undefined ? null : ([client, null] as const),
    server: [server, Number(port ?? byName.get("x-forwarded-port") ?? (encrypted ? 443 : 80)) || null] as const,
  };
}

/**
 * The source address of the event. A load balancer appends it to `X-Forwarded-For`, so the last address is its own; those
 * before it are the client's, and may be forged.
 */
function clientOf({ source, context }: ReadEvent, headers: ReadonlyMap<string, string>): string | undefined {
  if (source === "v2") return textAt(recordAt(context, "http"), "sourceIp");
  if (source === "v1") return textAt(recordAt(context, "identity"), "sourceIp");
  const last = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  return parseAddress(last)?.[0]; // the load balancer can be set to add the client's port
}
