/** The type of the client's method that opens a WebSocket. @module */
import type { ROUTE, Optional, ParametersOption } from "tsgi/internals";
import type { ClientSocket } from "./socket.js";

/** Opens the WebSocket of a route by its path. */
export interface SocketCall<Routes> {
  <Path extends keyof Routes & string>(path: Path, ...init: SocketArguments<Routes[Path]>): SocketOf<Routes[Path]>;
}

type SocketArguments<Route> = Route extends { readonly [ROUTE]: { readonly request: infer R } }
  ? Optional<SocketInit<R>>
  : [];

/** The platform's WebSockets take no headers. */
type SocketInit<R> = ParametersOption<Pick<R, keyof R & ("path" | "query")>> & {
  /** Subprotocols, RFC 6455 §1.9. */
  protocols?: string[];
};

type SocketOf<Route> = Route extends { readonly [ROUTE]: { data: { sent: infer Sent; received: infer Received } } }
  ? ClientSocket<Sent, Received>
  : ClientSocket<unknown, unknown>;
