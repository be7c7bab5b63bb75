/** `requestId`: an id for each request, or WebSocket, and its log lines. @module */
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { headerValues } from "../protocol/header-list.js";
import { isToken } from "../protocol/http-grammar.js";
import { observedOf } from "./observation/observed.js";
import { changingHeaders } from "./layer.js";
import { assertOptions, expecting, FLAG, FUNCTION, type OptionRules } from "../common/options.js";

/** Options of `requestId`. */
export interface RequestIdOptions {
  /** The header that carries the id. Defaults to `"X-Request-ID"`. */
  header?: string;
  /**
   * Keeps the id of a request that has one: only behind a proxy that sets it, since any client can send one. Defaults to
   * `false`.
   */
  trustIncoming?: boolean;
  /** Makes an id. Defaults to a random UUID. */
  generate?: () => string;
}

const OPTIONS: OptionRules<RequestIdOptions> = {
  header: expecting('the name of a header, such as "X-Request-ID"', (value) => {
    return typeof value === "string" && isToken(value);
  }),
  trustIncoming: FLAG,
  generate: FUNCTION,
};

/** Text that can neither end a line of a log nor forge another field of it. */
const ID = /^[\w.:+/=@-]{1,128}$/;

/**
 * Writes the id into the state of the request, which belongs to it. The scope is not copied, because to copy its client takes 3 µs on
 * Bun, unless another `requestId` is outside, whose log lines have its id.
 */
function identify<Given extends HTTPScope | WebSocketScope>(scope: Given, id: string): Given {
  const { state } = scope;
  if (state === undefined || "requestId" in state) return { ...scope, state: { ...state, requestId: id } };
  state["requestId"] = id;
  return scope;
}

/**
 * Gives each request and each WebSocket an id: in its `state.requestId`, in the `X-Request-ID` of the response or of the
 * handshake, and in log lines.
 *
 * @throws ConfigurationError when `header` is not the name of a header.
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 * import { requestId } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [requestId()] });
 * app.get("/", { params: { request: Request } }, async ({ request }) => ({ id: request.state.requestId }));
 * ```
 */
export function requestId(options: RequestIdOptions = {}): Middleware {
  assertOptions("requestId()", options, OPTIONS);
  const { header = "X-Request-ID", trustIncoming = false, generate = () => crypto.randomUUID() } = options;
  const name = header.toLowerCase();
  return (app) => (scope, receive, send) => {
    if (scope.type !== "http" && scope.type !== "websocket") return app(scope, receive, send);
    const [given = "", second] = trustIncoming ? headerValues(scope.headers ?? [], name) : [];
    const id = second === undefined && ID.test(given) ? given : generate();
    observedOf(scope)?.identify(id);
    return app(
      identify(scope, id),
      receive,
      changingHeaders(send, (headers) => void headers.set(name, id)),
    );
  };
}
