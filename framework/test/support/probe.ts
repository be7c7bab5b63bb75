/** Calls an application in memory, and shows what its handler was given. */
import { App, type AppOptions } from "../../src/app.js";
import type { ASGIApp, SendMessage } from "../../src/asgi.js";
import type { Fault } from "../../src/exceptions.js";
import type { Logger } from "../../src/logger.js";
import type { Params } from "../../src/params.js";
import type { RouteOptions } from "../../src/router.js";

/** What is sent beside method and target. `json`, `form` and `text` are ways to write `body`. */
export interface Sent {
  readonly headers?: Iterable<readonly [name: string, value: string]>;
  readonly body?: Uint8Array;
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  /** Sent as it is, as `application/json` unless a header says otherwise. */
  readonly text?: string;
  /** Sent urlencoded, with its content type. */
  readonly form?: string | readonly (readonly [string, string])[];
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body parsed as JSON. */
  readonly json: unknown;
  /** The faults of a 422. */
  readonly faults: readonly Fault[];
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

/** Calls an application with a synthetic scope. The target is written as in a request line: `/items/5?n=1`. */
export async function call(app: ASGIApp, method: string, target: string, sent: Sent = {}): Promise<Answer> {
  const [path = "/", ...query] = target.split("?");
  const { body, type } = bodyOf(sent);
  const headers = [...(sent.headers ?? [])];
  if (type !== null && !headers.some(([name]) => name === "content-type")) headers.push(["content-type", type]);
  const messages: SendMessage[] = [];
  let given = false;
  await app(
    {
      type: "http",
      method,
      path: decodePath(path),
      raw_path: Buffer.from(path, "latin1"),
      query_string: Buffer.from(query.join("?"), "latin1"),
      headers: headers.map(([name, value]) => [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")] as const),
    },
    () => {
      if (given) return Promise.resolve({ type: "http.disconnect" });
      given = true;
      return Promise.resolve({ type: "http.request", body, more_body: false });
    },
    (message) => void messages.push(message),
  );
  return readAnswer(messages);
}

/** What a server makes of a path; with `raw_path` beside it the App looks at that. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function readAnswer(messages: readonly SendMessage[]): Answer {
  const chunks: Uint8Array[] = [];
  const headers: Record<string, string> = {};
  let status = 0;
  for (const message of messages) {
    if (message.type === "http.response.start") {
      status = message.status;
      for (const [name, value] of message.headers ?? []) {
        headers[Buffer.from(name).toString("latin1")] = Buffer.from(value).toString("latin1");
      }
    } else if (message.type === "http.response.body" && message.body) chunks.push(message.body);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const isJSON = headers["content-type"] === "application/json";
  const json: unknown = isJSON && text !== "" ? JSON.parse(text) : undefined;
  return { status, headers, text, json, faults: status === 422 ? (json as { detail: Fault[] }).detail : [] };
}

/** A logger that keeps its lines, each as `level message`. */
export class KeptLog implements Logger {
  readonly lines: string[] = [];
  readonly debug = (_fields: object, message: string): void => void this.lines.push(`debug ${message}`);
  readonly info = (_fields: object, message: string): void => void this.lines.push(`info ${message}`);
  readonly warn = (_fields: object, message: string): void => void this.lines.push(`warn ${message}`);
  readonly error = (_fields: object, message: string): void => void this.lines.push(`error ${message}`);
}

/** Where a probe stands, and what else its route says. */
export interface ProbeOptions extends Omit<RouteOptions, "params"> {
  /** Defaults to `POST`. */
  readonly method?: string;
  /** The pattern. Defaults to `/`. */
  readonly path?: string;
  readonly app?: AppOptions;
}

/** An answer, and what the handler was given. */
export interface Probed extends Answer {
  /** `undefined` when the handler was not called. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly log: readonly string[];
}

/** A route with these params, whose handler keeps what it is given. Call it with a target and what is sent. */
export function probe(params: Params, { method, path = "/", app: appOptions, ...options }: ProbeOptions = {}) {
  const log = new KeptLog();
  const app = new App({ logger: log, ...appOptions });
  let args: Record<string, unknown> | undefined;
  const used = method ?? "POST";
  app.route(path, { ...options, params, methods: [used] }, async (given: Record<string, unknown>) => {
    args = given;
    return null;
  });
  return async (target = "/", sent: Sent = {}): Promise<Probed> => {
    args = undefined;
    const answer = await call(app, used, target, sent);
    return { ...answer, args, log: log.lines };
  };
}

/** A route that gives this result, to be called with nothing. */
export function returning(result: unknown, options: Omit<RouteOptions, "params"> = {}) {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.route("/result", { ...options, methods: ["GET"] }, async () => result);
  return async (): Promise<Probed> => ({ ...(await call(app, "GET", "/result")), args: undefined, log: log.lines });
}

/** A fault's type and place in one text, `int_parsing path.item_id`. */
export function faultLines(answer: Answer): string[] {
  return answer.faults.map(({ type, loc }) => `${type} ${loc.join(".")}`);
}
