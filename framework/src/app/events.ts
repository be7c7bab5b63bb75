import { configurationError, ResponseValidationError, withPlace } from "../exceptions.js";
import { isServerSentEvent, type ServerSentEvent } from "../response.js";
import { EventSchemas, type Returns } from "../router.js";
import { type CompiledReturns, compileReturns, compileSchema, Faults, t } from "../schema.js";
import { resultJSON } from "./result.js";

/** Makes an event of an item, its data checked, cut and written as text. */
export type ToEvent = (item: unknown) => Promise<ServerSentEvent>;

/** The text of data: text as it is, anything else as JSON. */
async function dataText(returns: CompiledReturns | null, data: unknown, place?: string): Promise<string> {
  const text = await resultJSON(returns, data, place);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** Tells if listeners hear of an event: a comment, an `id` or a `retry` alone is for the client itself. */
function isHeard(event: ServerSentEvent): boolean {
  return "data" in event || event.event !== undefined;
}

/** Without a schema an item is an event by its shape alone. */
async function anyEvent(item: unknown): Promise<ServerSentEvent> {
  if (!isServerSentEvent(item)) return { data: await dataText(null, item) };
  return item.data === undefined ? item : { ...item, data: await dataText(null, item.data) };
}

/**
 * Events whose data have one schema. What has the shape of an event is one if its data fit, so that `{ data }` around a
 * value is never taken for the value itself; else it may be data that only look like an event.
 */
function eventsOf(returns: CompiledReturns): ToEvent {
  const asData = async (item: unknown) => ({ data: await dataText(returns, item) });
  return async (item) => {
    if (!isServerSentEvent(item)) return asData(item);
    if (!isHeard(item)) return asData(item).catch(() => item);
    try {
      return { ...item, data: await dataText(returns, item.data, "data") };
    } catch (error) {
      return asData(item).catch(() => {
        throw error;
      });
    }
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
    if (isServerSentEvent(item) && !isHeard(item)) return item;
    const { event, data, id, retry, comment } = Object(item) as ServerSentEvent;
    const returns = writers.get(event as string);
    if (returns === undefined) {
      const faults = new Faults();
      check(event, faults);
      throw new ResponseValidationError(faults.list.map(({ type, msg }) => ({ type, loc: ["event"], msg })));
    }
    const fields = { id, retry, comment };
    return { event, data: await dataText(returns, data, "data"), ...fields };
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
