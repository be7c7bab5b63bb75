/** `accessLog`: one line per request, as JSON or in the Combined Log Format. @module */
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
import { encodeUTF8, headerValue } from "../protocol/header-list.js";
import { sentPath, sentQuery } from "../protocol/scope.js";
import { escapeControls, writeLine } from "../common/logger.js";
import type { Instrumentation } from "./observation/types.js";
import { type Observed, observedOf } from "./observation/observed.js";
import { assertOptions, FLAG, FUNCTION, oneOf, type OptionRules } from "../common/options.js";
import { idsOf, methodOf } from "./log-context.js";

/** Options of `accessLog`. */
export interface AccessLogOptions {
  /** `"json"`, or `"combined"`: Apache's Combined Log Format. Defaults to `"json"`. */
  format?: "json" | "combined";
  /** Takes each line, without a line break at its end. Defaults to the standard output. */
  write?: (line: string) => void;
  /** Logs query strings, which often carry personal data and secrets. Defaults to `false`. */
  query?: boolean;
}

const OPTIONS: OptionRules<AccessLogOptions> = {
  format: oneOf("json", "combined"),
  write: FUNCTION,
  query: FLAG,
};

/** One response that is over. */
interface Entry {
  readonly scope: HTTPScope | WebSocketScope;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly route: string | null;
  /** `null` where the client left before the response. */
  readonly status: number | null;
  readonly observed: Observed | null;
  readonly hasQuery: boolean;
}

type Format = (entry: Entry) => string;

/**
 * Logs one line for each response when it is over, a stream or a WebSocket when it has ended.
 *
 * The fields of `"json"` are `time` (ISO 8601, of the start), `method`, `path`, `route` (its pattern), `status`, `bytes` (of
 * the body), `durationMs`, `client` (its address), `requestId` and `traceId`, and with `query: true` also `query`. A field
 * without a value is `null`. `"combined"` has the headers `Referer`, without its query string, and `User-Agent`.
 *
 * @throws ConfigurationError for an option that cannot work.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { accessLog } from "tsgi/middleware";
 *
 * const app = new App({ instrumentation: accessLog() });
 * ```
 */
export function accessLog(options: AccessLogOptions = {}): Instrumentation {
  assertOptions("accessLog()", options, OPTIONS);
  const { format = "json", write = writeLine, query: hasQuery = false } = options;
  const toLine: Format = format === "json" ? toJSON : toCombined;
  return {
    start(scope) {
      const startedAt = new Date();
      const start = performance.now();
      let route: string | null = null;
      let status: number | null = null;
      return {
        route: (pattern) => void (route = pattern),
        response: (code) => void (status = code),
        end() {
          const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
          const observed = observedOf(scope);
          const written = write(toLine({ scope, startedAt, durationMs, route, status, observed, hasQuery }));
          observed?.markLogged();
          return written; // the promise of one that is async: its rejection is taken by the caller
        },
      };
    },
  };
}

function toJSON({ scope, startedAt, durationMs, route, status, observed, hasQuery }: Entry): string {
  const text = JSON.stringify({
    time: startedAt.toISOString(),
    method: methodOf(scope),
    path: scope.path || sentPath(scope),
    query: hasQuery ? sentQuery(scope).slice(1) : undefined,
    route,
    status,
    bytes: observed?.bytesSent ?? 0,
    durationMs,
    client: scope.client?.[0] ?? null,
    ...idsOf(scope, observed),
  });
  return escapeControls(text);
}

/** https://httpd.apache.org/docs/2.4/logs.html#combined */
function toCombined({ scope, startedAt, status, observed, hasQuery }: Entry): string {
  const target = sentPath(scope) + (hasQuery ? sentQuery(scope) : "");
  const version = scope.http_version === "2" ? "2.0" : (scope.http_version ?? "1.1");
  const header = (name: string) => headerValue(scope.headers ?? [], name) ?? "-";
  const referer = hasQuery ? header("referer") : header("referer").replace(/[?#].*$/s, "");
  const quoted = [`${methodOf(scope)} ${target} HTTP/${version}`, referer, header("user-agent")].map(quote);
  const client = quote(scope.client?.[0] ?? "-").slice(1, -1);
  const response = `${status ?? "-"} ${observed?.bytesSent || "-"}`;
  return `${client} - - [${toApacheTime(startedAt)}] ${quoted[0]} ${response} ${quoted[1]} ${quoted[2]}`;
}

/** As Apache escapes: quotes, backslashes, and all that is not printable ASCII. */
function quote(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^\u0020-\u007e]/g, (char) => {
    if (char === '"' || char === "\\") return `\\${char}`;
    return encodeUTF8(char).reduce((hex, byte) => `${hex}\\x${byte.toString(16).padStart(2, "0")}`, "");
  });
  return `"${escaped}"`;
}

/** `10/Oct/2000:13:55:36 +0000` */
function toApacheTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}
