import type { PathNames } from "../params.js";
import type {
  MessageSchemas,
  Optional,
  OwnParams,
  ParametersOption,
  Places,
  Received,
  ROUTE,
  Sent,
  WithNames,
} from "../router.js";
import type { ClientSocket } from "./socket.js";

/** Opens the WebSocket of a route by its path. */
export interface SocketCall<Routes> {
  <Path extends keyof Routes & string>(
    path: Path,
    ...init: SocketArguments<Routes[Path], Path>
  ): SocketOf<Routes[Path]>;
}

type SocketArguments<Route, Path extends string> = Route extends {
  readonly [ROUTE]: { readonly params: infer P; readonly result: infer H };
}
  ? Optional<SocketInit<WithNames<Places<P, PathNames<Path>> & Places<OwnParams<H>, PathNames<Path>>, PathNames<Path>>>>
  : [];

/** The platform's WebSockets take no headers. */
type SocketInit<R> = ParametersOption<Pick<R, keyof R & ("path" | "query")>> & {
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
