/** Server-sent events of handlers: items become events, checked by `returns`. @module */
import { configurationError, ResponseValidationError, withPlace } from "../common/exceptions.js";
import { event, isMarkedEvent, isServerSentEvent, type ServerSentEvent } from "../http/response/event-source.js";
import { EventSchemas } from "../routing/event-schemas.js";
import type { Returns } from "../routing/options.js";
import { type CompiledReturns, compileReturns, compileSchema, t } from "../schema/schema.js";
import { Faults } from "../schema/faults.js";
import { resultJSON } from "./result.js";

/** Makes an event of an item, its data checked, cut and written as text. */
export type ToEvent = (item: unknown) => Promise<ServerSentEvent>;

/** The text of data: text as it is, anything else as JSON. */
async function dataText(returns: CompiledReturns | null, data: unknown, place?: string): Promise<string> {
  const text = await resultJSON(returns, data, place);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** Tells if listeners hear of an event: a comment, an `id` or a `retry` alone is for the client itself. */
function isHeard(item: ServerSentEvent): boolean {
  return "data" in item || item.event !== undefined;
}

/** Tells if an item is a comment, which clients skip. */
function isComment(item: unknown): item is ServerSentEvent {
  return isServerSentEvent(item) && Object.keys(item).join() === "comment";
}

/** Without a schema, only a marked item is an event. Attack: a client's message that has the keys of one. */
async function anyEvent(item: unknown): Promise<ServerSentEvent> {
  if (!isMarkedEvent(item)) return { data: await dataText(null, item) };
  return item.data === undefined ? item : { ...item, data: await dataText(null, item.data) };
}

/**
 * Events whose data have one schema. An unmarked item that fits the schema is data, whatever its keys are. One that does not
 * may be an event whose data fit.
 */
function eventsOf(returns: CompiledReturns): ToEvent {
  const around = async (item: ServerSentEvent) => ({ ...item, data: await dataText(returns, item.data, "data") });
  return async (item) => {
    if (isMarkedEvent(item)) return isHeard(item) ? around(item) : item;
    const asData = dataText(returns, item).then((data) => ({ data }));
    if (isComment(item)) return asData.catch(() => item);
    return isServerSentEvent(item) && isHeard(item) ? asData.catch(() => around(item)) : asData;
  };
}

/** Names that the field `event` cannot have; an empty one is that of every event without a name. */
const INVALID_NAME = /^$|[\r\n\0]/;

/** Events by their names, each with a schema of its data. */
function namedEvents({ events }: EventSchemas): ToEvent {
  const names = Object.keys(events);
  const invalid = names.filter((name) => INVALID_NAME.test(name));
  if (names.length === 0 || invalid.length > 0) throw configurationError("TSGI_INVALID_EVENT_NAME", invalid);
  const writers = new Map(
    Object.entries(events).map(([name, schema]) => [
      name,
      withPlace(`the event ${JSON.stringify(name)}`, () => compileReturns(schema)),
    ]),
  );
  const { check } = compileSchema(t.Union(names.map((name) => t.Literal(name))));
  return async (item) => {
    if (isComment(item) || (isMarkedEvent(item) && !isHeard(item))) return item;
    const { event: name, data, id, retry, comment } = Object(item) as ServerSentEvent;
    const returns = writers.get(name as string);
    if (returns === undefined) {
      const faults = new Faults();
      check(name, faults);
      throw new ResponseValidationError(faults.list.map(({ type, msg }) => ({ type, loc: ["event"], msg })));
    }
    const fields = { event: name, data: await dataText(returns, data, "data"), id, retry, comment };
    return isMarkedEvent(item) ? event(fields) : fields;
  };
}

/**
 * Compiles what makes the events of a handler's items.
 *
 * @throws ConfigurationError for a schema that cannot describe what is sent.
 */
export function compileEvents(returns: Returns | null): ToEvent {
  if (returns === null) return anyEvent;
  return returns instanceof EventSchemas ? namedEvents(returns) : eventsOf(compileReturns(returns));
}
