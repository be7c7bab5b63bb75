/** The way from an application to a handler of a platform's requests. @module */
import type { ASGIApp } from "../../protocol/asgi.js";
import { onlyHTTP } from "../../protocol/callable.js";
import { ClientDisconnect, configurationError } from "../../common/exceptions.js";
import { describe } from "../../common/messages.js";
import { DOT_SEGMENT, isResolvedByURL } from "../../http/request/web.js";
import { finishingSend, MARK_FINISHED, Request } from "../../http/request.js";
import { fromWebResponse, isWebResponse } from "../../http/response/web.js";
import { PlainTextResponse } from "../../http/response/kinds.js";

/**
 * Makes a handler of the platform's requests an ASGI application, to be mounted: an app of Hono, h3, Elysia or `better-auth`.
 *
 * It sees the URL as the client wrote it, with the prefix of the mount, and the body as a stream without a limit. The
 * surrounding application responds to its errors, by default with 500. If the client disconnects, `request.signal`
 * aborts and the stream of its response is canceled.
 *
 * @throws ConfigurationError when it is given no function.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { fromFetchHandler } from "tsgi/web";
 *
 * const app = new App();
 * app.mount("/legacy", fromFetchHandler((request) => new Response(new URL(request.url).pathname)));
 * ```
 */
export function fromFetchHandler(
  handler: (request: globalThis.Request) => globalThis.Response | Promise<globalThis.Response>,
): ASGIApp {
  if (typeof handler !== "function") {
    throw configurationError("TSGI_INVALID_OPTION", "fromFetchHandler()", "handler", "a function", handler);
  }
  return onlyHTTP(async (scope, receive, send) => {
    const isHead = scope.method === "HEAD";
    if (scope.app === undefined && isResolvedByURL(scope)) {
      return new PlainTextResponse(DOT_SEGMENT, { statusCode: 400 }).send(send, isHead);
    }
    const request = new Request(scope, receive);
    try {
      const response: unknown = await handler(request.toWeb());
      if (!isWebResponse(response)) {
        throw new TypeError(`The handler of fromFetchHandler() returned ${describe(response)}, not a Response.`);
      }
      await fromWebResponse(response).send(finishingSend(request, send), isHead, request);
    } catch (error) {
      throw request.signal.aborted ? new ClientDisconnect() : error;
    } finally {
      request[MARK_FINISHED]();
    }
  });
}
