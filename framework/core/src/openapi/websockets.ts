/** WebSockets with schemas of their messages: the extension `x-websocket` of a path item. @module */
import { WEBSOCKET } from "../routing/router.js";
import { type Schema, toJSONSchema } from "../schema/schema.js";
import { summaryOf } from "./naming.js";
import type { Parts } from "./operation.js";
import { parametersOf } from "./parameters.js";
import { type DocumentedRoute, placeOf } from "./route.js";
import { sourcesOf } from "./sources.js";
import type { SchemaObject, WebSocketObject } from "./types.js";

/** Tells if the document describes a WebSocket: if it declares its messages. */
export function isListedSocket({ record: { method, metadata } }: DocumentedRoute): boolean {
  const hasMessages = metadata.receives !== undefined || metadata.sends !== undefined;
  return method === WEBSOCKET && hasMessages && metadata.includeInSchema !== false;
}

/** One WebSocket as the document describes it. */
export function webSocketOf(route: DocumentedRoute, operationId: string, parts: Parts): WebSocketObject {
  const { components, schemes } = parts;
  const { metadata } = route.record;
  const place = placeOf(route);
  const parameters = parametersOf(sourcesOf(route.plan.sources), { components, at: place });
  const security = schemes.of(route.plan);
  const { receives, sends } = metadata;
  const messageOf = (schema: Schema, direction: "input" | "output"): SchemaObject => {
    const json = toJSONSchema(schema, direction);
    const role = `${operationId}${direction === "input" ? "Received" : "Sent"}`;
    return json ? components.convert(json, { direction, place, role, of: schema }) : {};
  };
  return {
    ...(metadata.tags?.length ? { tags: [...metadata.tags] } : {}),
    summary: metadata.summary ?? summaryOf(route),
    ...(metadata.description === undefined ? {} : { description: metadata.description }),
    operationId,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(receives ? { receives: messageOf(receives, "input") } : {}),
    ...(sends ? { sends: messageOf(sends, "output") } : {}),
    ...(metadata.deprecated ? { deprecated: true } : {}),
    ...(security.length > 0 ? { security } : {}),
  };
}
