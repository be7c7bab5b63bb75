/** `events()`: schemas of server-sent events by their names. @module */
import type { Readable, Schema, SchemaInput } from "../schema/schema.js";

/** The schema of the data of each event, by the event's name. */
export type EventSchemaMap = Readonly<Record<string, Schema>>;

/** The named events of a stream, as `sse` makes them. */
export class EventSchemas<Events extends EventSchemaMap = EventSchemaMap> {
  /** The schema of the data of each event, by the event's name. */
  readonly events: Events;

  constructor(events: Events) {
    this.events = events;
  }
}

/** The fields of an event in addition to its data. */
interface EventFields {
  /** Value of `Last-Event-ID` when the client connects again. */
  readonly id?: string | number;
  /** Milliseconds before a client that lost its connection tries again. */
  readonly retry?: number;
  /** A line that clients skip. */
  readonly comment?: string;
}

/** An event whose data have one type. */
export interface DataEvent<Data> extends EventFields {
  /** The name that listeners are told apart by. */
  readonly event?: string;
  readonly data: Data;
}

/** An event of one name. */
export interface NamedEvent<Name, Data> extends EventFields {
  readonly event: Name;
  readonly data: Data;
}

/** One of the events that `sse` names, as a handler yields it. */
export type EventOf<Events> = {
  [Name in keyof Events]: NamedEvent<Name, Readable<SchemaInput<Events[Name]>>>;
}[keyof Events];

/**
 * Names the events of a stream, each with the schema of its data: `returns` with `stream: "sse"`. The handler yields `{
 * event, data, id?, retry? }`. An event of another name, and data that do not fit, are errors as an item that does not
 * fit `returns` is.
 *
 * @example
 * ```ts
 * import { App, sse, t } from "tsgi";
 *
 * const app = new App();
 * const events = sse({ token: t.Object({ text: t.String() }), done: t.Null() });
 * app.get("/answer", { stream: "sse", returns: events }, async function* () {
 *   yield { event: "token", data: { text: "Hello" }, id: 1 };
 *   yield { event: "done", data: null };
 * });
 * ```
 */
export function sse<const Events extends EventSchemaMap>(events: Events): EventSchemas<Events> {
  return new EventSchemas(events);
}
