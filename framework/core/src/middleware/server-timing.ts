/** `serverTiming`: the steps of a request in the browser's developer tools. @module */
import type { Instrumentation } from "./observation/types.js";

/** Steps that one header names at most: clients bound the size of a head, often at 8 KB. */
const MAX_STEPS = 50;

/**
 * Shows the steps of a request in the developer tools of a browser, by the header `Server-Timing`: dependencies,
 * validation, the handler, the pool, serialization, and `total` up to the head of the response. Any client can read the
 * names of the functions there, so use it for development.
 *
 * @see {@link https://www.w3.org/TR/server-timing/ | Server Timing}
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { serverTiming } from "tsgi/middleware";
 *
 * const isDevelopment = process.env.NODE_ENV === "development";
 * const app = new App({ instrumentation: isDevelopment ? [serverTiming()] : [] });
 * ```
 */
export function serverTiming(): Instrumentation {
  return {
    start() {
      const startedAt = performance.now();
      const metrics: string[] = [];
      return {
        step(kind, name) {
          const begin = performance.now();
          return () => {
            if (metrics.length < MAX_STEPS) metrics.push(`${kind};desc=${quote(name)};dur=${since(begin)}`);
          };
        },
        response(_status, headers) {
          headers.append("server-timing", [...metrics, `total;dur=${since(startedAt)}`].join(", "));
        },
      };
    },
  };
}

/** Milliseconds, to the microsecond. */
function since(start: number): number {
  return Math.round((performance.now() - start) * 1000) / 1000;
}

/** RFC 9110 §5.6.4: a quoted string. Names of functions may have characters that no header can carry. */
function quote(name: string): string {
  return `"${name
    .slice(0, 64)
    .replaceAll(/[^\u0020-\u007e]/g, "?")
    .replaceAll(/["\\]/g, "\\$&")}"`;
}
