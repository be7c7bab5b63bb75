import type { MessageSchemas, ROUTE } from "../router.js";
import type { Received, Sent } from "./json.js";
import type { ParametersOption, RequestOf } from "./request.js";
import type { ClientSocket } from "./socket.js";

/** Opens the WebSocket of a route by its path. */
export interface SocketCall<Routes> {
  <Path extends keyof Routes & string>(
    path: Path,
    ...init: SocketArguments<SocketInit<Routes[Path], Path>>
  ): SocketOf<Routes[Path]>;
}

/** The argument, which may be left out where nothing in it is required. */
type SocketArguments<Init> = {} extends Init ? [init?: Init] : [init: Init];

/** The platform's WebSockets take no headers. */
type SocketInit<Route, Path extends string> = ParametersOption<
  Pick<RequestOf<Route, Path>, keyof RequestOf<Route, Path> & ("path" | "query")>
> & {
  /** Subprotocols, RFC 6455 §1.9. */
  protocols?: string[];
};

/** A client sends what the server receives. */
type SocketOf<Route> = Route extends { readonly [ROUTE]: { returns: MessageSchemas<infer Receives, infer Sends> } }
  ? ClientSocket<
      [Receives] extends [undefined] ? unknown : Sent<Receives>,
      [Sends] extends [undefined] ? unknown : Received<Sends>
    >
  : ClientSocket<unknown, unknown>;
