/** `bodyLimit`: 413 for bodies that are too large. @module */
import type { ReceiveMessage } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { headerValues } from "../protocol/header-list.js";
import { tooLarge } from "../http/request/body.js";
import { callWithBody, onHTTP, refuseLarge } from "./layer.js";
import { whole } from "../common/options.js";

/**
 * Limits the bytes of a request's body, even if it is read as a stream: 413 immediately for a larger `Content-Length`,
 * and otherwise as soon as the limit is exceeded. For mounted applications, and for bodies that are read as a stream;
 * the App's own `limits` apply to everything else.
 *
 * @throws ConfigurationError when `maxBytes` is not a whole number.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { bodyLimit } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [bodyLimit(10 * 1024 * 1024)] });
 * ```
 */
export function bodyLimit(maxBytes: number): Middleware {
  whole(0)("bodyLimit()", "maxBytes", maxBytes);
  return onHTTP((app) => async (scope, receive, send) => {
    const announced = headerValues(scope.headers ?? [], "content-length").some((length) => Number(length) > maxBytes);
    if (announced) return refuseLarge(scope, send, maxBytes);
    let received = 0;
    const next = async (): Promise<ReceiveMessage> => {
      const message = await receive();
      if (message.type === "http.request") received += message.body?.length ?? 0;
      if (received > maxBytes) throw tooLarge(maxBytes);
      return message;
    };
    await callWithBody(app, scope, next, send);
  });
}
