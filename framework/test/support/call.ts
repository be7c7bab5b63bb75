/** One HTTP request to an application in memory, and its response read to the end. */
import type { ASGIApp, ReceiveMessage, SendMessage } from "../../core/src/protocol/asgi.js";
import type { Fault } from "../../core/src/common/exceptions.js";

/** The request in addition to method and target. `chunks`, `json`, `form` and `text` are ways to write `body`. */
export interface Sent {
  readonly headers?: Iterable<readonly [name: string, value: string]>;
  readonly body?: Uint8Array;
  /** Sent as one message each in memory, as one chunk each over a socket. */
  readonly chunks?: readonly Uint8Array[];
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  /** Sent as it is, as `application/json` unless a header says otherwise. */
  readonly text?: string;
  /** Sent urlencoded, with its content type. */
  readonly form?: string | readonly (readonly [string, string])[];
}

/** A response, read to its end. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of a repeated one the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each header line, repeated ones too, in order. */
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
  /** The body parsed as JSON, where its content type says that it is. */
  readonly json: unknown;
  /** The errors of a 422. */
  readonly faults: readonly Fault[];
}

/** Sends one request and reads the response. The target is written as in a request line: `/items/5?n=1`. */
export type CallApp = (app: ASGIApp, method: string, target: string, sent?: Sent) => Promise<Answer>;

/** The request in detail: header lines and the chunks of the body. */
export interface Outgoing {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly chunks: readonly Uint8Array[];
}

function bodyOf(sent: Sent): { body: Uint8Array; type: string | null } {
  if (sent.json !== undefined) return { body: Buffer.from(JSON.stringify(sent.json)), type: "application/json" };
  if (sent.text !== undefined) return { body: Buffer.from(sent.text), type: "application/json" };
  if (sent.form !== undefined) {
    const text =
      typeof sent.form === "string" ? sent.form : String(new URLSearchParams(sent.form.map(([...pair]) => pair)));
    return { body: Buffer.from(text), type: "application/x-www-form-urlencoded" };
  }
  return { body: sent.body ?? new Uint8Array(0), type: null };
}

/** Expands the request. */
export function outgoingOf(sent: Sent): Outgoing {
  const { body, type } = bodyOf(sent);
  const headers = [...(sent.headers ?? [])];
  if (type !== null && !headers.some(([name]) => name === "content-type")) headers.push(["content-type", type]);
  return { headers, chunks: sent.chunks ?? [body] };
}

/** Calls an application with a synthetic scope. After the body the client waits until the response is complete. */
export const call: CallApp = async (app, method, target, sent = {}) => {
  const [path = "/", ...query] = target.split("?");
  const { headers, chunks } = outgoingOf(sent);
  const messages: SendMessage[] = [];
  const waiting = chunks.map((body, index): ReceiveMessage => ({
    type: "http.request",
    body,
    more_body: index < chunks.length - 1,
  }));
  let leave: (message: ReceiveMessage) => void = () => {};
  const left = new Promise<ReceiveMessage>((resolve) => (leave = resolve));
  await app(
    {
      type: "http",
      client: ["127.0.0.1", 50_000],
      method,
      path: decodePath(path),
      raw_path: Buffer.from(path, "latin1"),
      query_string: Buffer.from(query.join("?"), "latin1"),
      headers: headers.map(([name, value]) => [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")] as const),
    },
    () => {
      const message = waiting.shift();
      return message ? Promise.resolve(message) : left;
    },
    (message) => {
      messages.push(message);
      if (message.type === "http.response.body" && message.more_body !== true) leave({ type: "http.disconnect" });
    },
  );
  return answerOf(messages);
};

/** The path as a server decodes it; if `raw_path` is set, the App uses that. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function answerOf(messages: readonly SendMessage[]): Answer {
  const chunks: Uint8Array[] = [];
  const lines: (readonly [string, string])[] = [];
  let status = 0;
  for (const message of messages) {
    if (message.type === "http.response.start") {
      status = message.status;
      for (const [name, value] of message.headers ?? []) {
        lines.push([Buffer.from(name).toString("latin1"), Buffer.from(value).toString("latin1")]);
      }
    } else if (message.type === "http.response.body" && message.body) chunks.push(message.body);
  }
  return createAnswer(status, lines, Buffer.concat(chunks));
}

/** Builds a response from its messages. */
export function createAnswer(status: number, headerLines: Answer["headerLines"], body: Buffer): Answer {
  const headers: Record<string, string> = {};
  for (const [name, value] of headerLines) headers[name.toLowerCase()] = value;
  const text = body.toString("utf8");
  const isJSON =
    /^application\/json(?:;|$)/.test(headers["content-type"] ?? "") && headers["content-encoding"] === undefined;
  const json: unknown = isJSON && text !== "" ? JSON.parse(text) : undefined;
  const faults = status === 422 && isJSON ? (json as { detail: Fault[] }).detail : [];
  return { status, headers, headerLines, body, text, json, faults };
}
