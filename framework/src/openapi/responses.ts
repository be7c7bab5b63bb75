import { statusPhrase } from "../exceptions.js";
import type { ResponseDoc, RouteOptions } from "../router.js";
import { type Schema, toJSONSchema } from "../schema.js";
import type { Components } from "./components.js";
import type { HeaderObject, ResponseObject, SchemaObject } from "./types.js";

const JSON_TYPE = "application/json";

/** The answer to a request whose parameters do not fit, as `requestValidationExceptionHandler` writes it. */
function validationErrorSchema(components: Components): SchemaObject {
  const fault = components.own("ValidationError", {
    type: "object",
    properties: {
      type: { type: "string", description: "The kind of fault: `missing`, `int_parsing`, …" },
      loc: {
        type: "array",
        items: { anyOf: [{ type: "string" }, { type: "integer" }] },
        description: "Where: `path`, `query`, `header`, `cookie`, `body` or `form`, then names and indexes.",
      },
      msg: { type: "string", description: "One sentence for a person." },
      input: { description: "What came, where it may be shown." },
    },
    required: ["type", "loc", "msg"],
  });
  return components.own("HTTPValidationError", {
    type: "object",
    properties: { detail: { type: "array", items: fault } },
    required: ["detail"],
  });
}

/** Statuses whose answers have no body, or none that says anything. */
function isBodyless(status: number): boolean {
  return status < 200 || status === 204 || status === 205 || (status >= 300 && status < 400);
}

function outputOf(schema: Schema, components: Components, at: string): SchemaObject {
  const json = toJSONSchema(schema, "output");
  return json ? components.convert(json, "output", at) : {};
}

function headersOf(doc: ResponseDoc, components: Components, at: string): Record<string, HeaderObject> | undefined {
  if (!doc.headers) return undefined;
  return Object.fromEntries(
    Object.entries(doc.headers).map(([name, { description, schema }]) => [
      name,
      {
        ...(description === undefined ? {} : { description }),
        schema: schema ? outputOf(schema, components, at) : { type: "string" },
      },
    ]),
  );
}

/** Lays what a route says of a status over what is known of it. */
function withDoc(known: ResponseObject, doc: ResponseDoc, components: Components, at: string): ResponseObject {
  const headers = headersOf(doc, components, at);
  return {
    description: doc.description ?? known.description,
    ...(headers ? { headers } : {}),
    ...(doc.schema
      ? { content: { [JSON_TYPE]: { schema: outputOf(doc.schema, components, at) } } }
      : known.content && { content: known.content }),
  };
}

/** Every response of a route that is known beforehand, by status. */
export function responsesOf(
  options: RouteOptions,
  canBeInvalid: boolean,
  components: Components,
  at: string,
): Record<string, ResponseObject> {
  const { statusCode = 200, returns } = options;
  const responses = new Map<number, ResponseObject>();
  const schema = returns ? outputOf(returns, components, at) : {};
  responses.set(statusCode, {
    description: statusPhrase(statusCode),
    ...(isBodyless(statusCode) ? {} : { content: { [JSON_TYPE]: { schema } } }),
  });
  if (canBeInvalid) {
    responses.set(422, {
      description: statusPhrase(422),
      content: { [JSON_TYPE]: { schema: validationErrorSchema(components) } },
    });
  }
  for (const [key, doc] of Object.entries(options.responses ?? {})) {
    const status = Number(key);
    const known = responses.get(status) ?? { description: statusPhrase(status) };
    responses.set(status, withDoc(known, doc, components, at));
  }
  const sorted = [...responses].toSorted(([left], [right]) => left - right);
  return Object.fromEntries(sorted.map(([status, response]) => [String(status), response]));
}
