/** A request that a host passes to its application. @module */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HTTPScope } from "../../../protocol/asgi.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { Exchange } from "../../../protocol/exchange.js";
import { RequestBody } from "../../../protocol/request-body.js";
import { SERVER_OPTIONS } from "../../../protocol/response.js";
import { createScope } from "../../../protocol/scope.js";
import { type HostedScope, type ServerContext, UNEXPECTED } from "../../../protocol/server-context.js";
import { DEFAULT_REQUEST_LIMITS, type HeaderSection } from "../header-section.js";
import { checkTarget, createHead, type RequestHead } from "../request-head.js";
import { socketEndpoints } from "../server-settings.js";
import { hostBody } from "./host-body.js";
import { nodeExtension } from "./node-request.js";
import type { NodeResponse } from "./node-response.js";
import type { HostedRequest, HostedPlace } from "./place.js";

const EMPTY = Buffer.alloc(0);

/** The response to a request for a path that is not below the prefix. */
export const ELSEWHERE = new ErrorResponse(404);

/** The head of a request, checked as on every other server. */
export function headOf(req: IncomingMessage, target: string): RequestHead | ErrorResponse {
  const limits = DEFAULT_REQUEST_LIMITS;
  const { method = "GET", httpVersionMinor, rawHeaders } = req;
  return checkTarget(target, limits) ?? createHead(method, target, httpVersionMinor, rawHeaders, limits);
}

/** The functions to call when a socket closes. */
const onClosed = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls a function once the socket has closed. A response to a pipelined request has no separate events while the
 * earlier ones are sent. The listener is one for all requests of a socket.
 *
 * @returns Forgets the function.
 */
function whenClosed(socket: Socket, call: () => void): () => void {
  let calls = onClosed.get(socket);
  if (calls === undefined) {
    const all = (calls = new Set());
    onClosed.set(socket, all);
    socket.once("close", () => {
      for (const each of all) each();
    });
  }
  calls.add(call);
  return () => void calls.delete(call);
}

/** A request for the application. */
interface HostedCall {
  readonly req: HostedRequest;
  readonly res: ServerResponse;
  readonly response: NodeResponse;
  readonly place: HostedPlace;
}

/** Reports errors that the exception handlers of an App do not handle, and the errors of any other application. */
class HostedExchange extends Exchange {
  onUnexpected: ((error: unknown) => void) | null = null;

  override refuse(error: ErrorResponse, reason?: unknown): void {
    if (reason !== undefined) this.onUnexpected?.(reason);
    super.refuse(error, reason);
  }
}

/** Calls the application. */
export function handleRequest(context: ServerContext, { req, res, response, place }: HostedCall): void {
  const head = headOf(req, place.target);
  if (head instanceof ErrorResponse) return response.refuse(head.as(context));
  if (head.target === "*") return response.respond(SERVER_OPTIONS, EMPTY);
  const { section, body } = bodyOf(req, response, head.section);
  const { headers, content } = section;
  const { httpVersion } = req;
  const { method, target } = head;
  const requestHead = { httpVersion, method, target, headers, content, extensions: nodeExtension(req) };
  const scope: HTTPScope & HostedScope = createScope(requestHead, socketEndpoints(req.socket, null), context);
  scope.root_path = place.rootPath;
  response.serve(context);
  const exchange = new HostedExchange(context, response, scope, body);
  if (response.takesErrors) {
    scope[UNEXPECTED] = exchange.onUnexpected = (error) => response.fail(error);
  }
  const leave = () => {
    forget();
    exchange.disconnect();
    response.resolveFlushed();
  };
  const forget = whenClosed(req.socket, leave);
  res.on("close", leave);
  void exchange.run();
}

/** The body of a request, from a parser of the host or from its stream. */
function bodyOf(
  req: HostedRequest,
  response: NodeResponse,
  section: HeaderSection,
): { readonly section: HeaderSection; readonly body: RequestBody | null } {
  const { bodyBytes } = section;
  if (bodyBytes === 0) return { section, body: null };
  const read = req.readableEnded ? hostBody(req, section) : null;
  if (read !== null) {
    const body = new RequestBody(null, read.bytes.length, read.bytes);
    return { section: read.section, body };
  }
  const body = new RequestBody(response, bodyBytes);
  response.expect(body, bodyBytes);
  return { section, body };
}
