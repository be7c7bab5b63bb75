/** Server-sent events as OpenAPI 3.2.0 describes them (§4.14.3): an object of an event's fields. @module */
import { EventSchemas } from "../routing/event-schemas.js";
import type { Returns } from "../routing/options.js";
import type { Schema } from "../schema/schema.js";
import type { SchemaObject } from "./types.js";

/** Gives the schema of a value on the wire. */
type SchemaOf = (schema: Schema) => SchemaObject;

const FIELDS = { id: { type: "string" }, retry: { type: "integer", minimum: 0 } } as const;

/** The field `data`: text is sent as it is, anything else as JSON. */
function dataSchema(data: SchemaObject): SchemaObject {
  if (Object.keys(data).length === 0) return { type: "string" };
  return data.type === "string" ? data : { type: "string", contentMediaType: "application/json", contentSchema: data };
}

function eventSchema(event: SchemaObject, data: SchemaObject, required: string[]): SchemaObject {
  return { type: "object", properties: { event, data: dataSchema(data), ...FIELDS }, required };
}

/** The schema of one event of a route. */
export function schemaOfEvent(returns: Returns | undefined, schemaOf: SchemaOf): SchemaObject {
  if (!(returns instanceof EventSchemas)) {
    return eventSchema({ type: "string" }, returns ? schemaOf(returns) : {}, ["data"]);
  }
  const events = Object.entries(returns.events).map(([name, schema]) =>
    eventSchema({ type: "string", enum: [name] }, schemaOf(schema), ["event", "data"]),
  );
  const [first] = events;
  return events.length === 1 && first ? first : { oneOf: events };
}
