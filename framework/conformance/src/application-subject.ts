/** Applications under test, and one that keeps every statement. @module */
import type { ASGIApp, HTTPScope, Receive, Send, WebSocketScope } from "tsgi";
import type { Lacks } from "./statement.js";

/** The paths at which an application has the behavior that the checks need. */
export interface ApplicationPaths {
  /** Responds to GET with any response. Defaults to `/`. */
  readonly get?: string;
  /** Responds to POST with the body of the request. */
  readonly echo?: string;
  /** Accepts WebSockets, and sends each message back. */
  readonly websocket?: string;
}

/** An application under test. */
export interface ApplicationSubject extends ApplicationPaths {
  readonly app: ASGIApp;
}

/** A path that a statement about applications may need. */
export type ApplicationFeature = "echo" | "websocket";

/** Reasons why paths are omitted. */
export function lacksOf({ echo, websocket }: ApplicationPaths): Lacks<ApplicationFeature> {
  return {
    ...(echo === undefined && { echo: "no path is configured that responds with the body of the request" }),
    ...(websocket === undefined && { websocket: "no path is configured that echoes the messages of a WebSocket" }),
  };
}

const EMPTY = new Uint8Array(0);

async function echoBody({ method }: HTTPScope, receive: Receive, send: Send): Promise<void> {
  const parts: Uint8Array[] = [];
  for (let more = method === "POST"; more;) {
    const message = await receive();
    if (message.type === "http.disconnect") return;
    if (message.type !== "http.request") throw new TypeError(`Expected http.request, not ${message.type}.`);
    parts.push(message.body ?? EMPTY);
    more = message.more_body === true;
  }
  await send({ type: "http.response.start", status: 200, headers: [] });
  for (const body of parts) await send({ type: "http.response.body", body, more_body: true });
  await send({ type: "http.response.body" });
}

async function echoMessages({ subprotocols = [] }: WebSocketScope, receive: Receive, send: Send): Promise<void> {
  for (;;) {
    const message = await receive();
    if (message.type === "websocket.disconnect") return;
    if (message.type === "websocket.connect") {
      await send({ type: "websocket.accept", subprotocol: Array.from(subprotocols)[0] ?? null });
    } else if (message.type === "websocket.receive") {
      await send({ type: "websocket.send", text: message.text ?? null, bytes: message.bytes ?? null });
    } else {
      throw new TypeError(`Expected websocket.receive, not ${message.type}.`);
    }
  }
}

async function live(receive: Receive, send: Send): Promise<void> {
  for (;;) {
    const { type } = await receive();
    if (type === "lifespan.startup") await send({ type: "lifespan.startup.complete" });
    else return send({ type: "lifespan.shutdown.complete" });
  }
}

/**
 * An application that satisfies every statement at any path: it echoes bodies and WebSocket messages. A middleware
 * around it is a separate subject.
 *
 * @example
 * ```ts
 * import { checkApplication, echo } from "@tsgi/conformance";
 * import { requestId } from "tsgi/middleware";
 *
 * const results = await checkApplication(requestId()(echo), { echo: "/", websocket: "/" });
 * ```
 */
export const echo: ASGIApp = async (scope, receive, send) => {
  switch (scope.type) {
    case "http":
      return echoBody(scope, receive, send);
    case "websocket":
      return echoMessages(scope, receive, send);
    case "lifespan":
      return live(receive, send);
    default:
      throw new TypeError(
        `Expected a scope of HTTP, WebSocket or lifespan, not ${String((scope as { type: unknown }).type)}.`,
      );
  }
};
