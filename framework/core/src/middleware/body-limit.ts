/** `bodyLimit`: 413 for bodies that are too large. @module */
import type { Receive, ReceiveMessage } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { headerValues } from "../protocol/header-list.js";
import { HTTPException } from "../common/exceptions.js";
import { markHandled } from "../common/promises.js";
import { onHTTP, refuse } from "./layer.js";
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
  const detail = `The body is larger than ${maxBytes} bytes`;
  return onHTTP((app) => async (scope, receive, send) => {
    const announced = headerValues(scope.headers ?? [], "content-length").some((length) => Number(length) > maxBytes);
    if (announced) return refuse(scope, send, { statusCode: 413, detail });
    let started = false;
    let excess: HTTPException | null = null;
    let received = 0;
    const count = async (): Promise<ReceiveMessage> => {
      if (excess !== null) throw excess;
      const message = await receive();
      if (message.type === "http.request") received += message.body?.length ?? 0;
      if (received > maxBytes) throw (excess = new HTTPException(413, detail));
      return message;
    };
    const counting: Receive = () => markHandled(count());
    try {
      await app(scope, counting, (message) => {
        started ||= message.type === "http.response.start";
        return send(message);
      });
    } catch (error) {
      if (error !== excess || started) throw error;
      await refuse(scope, send, { statusCode: 413, detail });
    }
  });
}
