/** The type of the client's method that reads server-sent events. @module */
import type { MarkedEvent } from "tsgi";
import type { CallOptions, Optional, ParametersOption, ROUTE } from "tsgi/internals";
import type { ClientStream } from "./stream.js";

/** Reads the events of a route by its path. */
export interface StreamCall<Routes> {
  <Path extends keyof Routes & string>(
    path: Path,
    ...init: StreamArguments<Routes[Path]>
  ): ClientStream<EventOf<Routes[Path]>>;
}

/** An event with its name and its id, if the server has sent them. */
export interface StreamedEvent<Name, Data> {
  readonly event: Name;
  readonly data: Data;
  readonly id?: string;
}

type StreamArguments<Route> = Route extends { readonly [ROUTE]: { readonly request: infer R } }
  ? Optional<ParametersOption<R> & CallOptions>
  : [];

type EventOf<Route> = Route extends { readonly [ROUTE]: { readonly data: AsyncIterable<infer Item> } }
  ? Received<Item>
  : Unnamed<unknown>;

type Received<Item> = Item extends { readonly event: infer Name extends string; readonly data: infer Data }
  ? StreamedEvent<Name, Data>
  : Item extends MarkedEvent & { readonly data: infer Data }
    ? Unnamed<Data>
    : Unnamed<Item>;

/** An event of a route that declares no names. */
type Unnamed<Data> = Partial<StreamedEvent<string, Data>> & { readonly data: Data };
