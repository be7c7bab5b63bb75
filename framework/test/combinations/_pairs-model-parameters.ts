/** The part of the reference model about parameters: the handler's values, and rejected requests. @module */
import type { ExpectedFault } from "./_pairs-expected.js";
import { type Combination, isJSON, isQuery } from "./_pairs-factors.js";
import { DEFAULT, FILE, SAMPLES } from "./_pairs-samples.js";

type Sent = Pick<Combination, "parameter" | "schema" | "sent">;

/** parameters.md, Defaults and absence: the parameter, as the handler shows it. */
export function valueOf({ parameter, schema, sent }: Sent): unknown {
  if (parameter === "none") return null;
  if (sent === "missing") {
    if (schema !== "default") return schema === "nullable" ? null : "undefined";
    return parameter === "list" ? [DEFAULT] : DEFAULT;
  }
  const sample = SAMPLES[schema];
  const value = parameter === "file" ? FILE : (sample.shown ?? sample.valid);
  return parameter === "list" ? [value, value] : value;
}

/** validation-errors.md and uploads.md: the errors of a parameter. `null` if it is absent, or its size. */
export function faultOf({ parameter, schema, sent }: Sent): ExpectedFault | null {
  const source = isQuery(parameter) ? "query" : isJSON(parameter) ? "body" : parameter;
  const whole = parameter === "body" || parameter === "bare body" ? "body" : `${source}.value`;
  const at = schema === "object" ? `${isJSON(parameter) ? whole : source}.count` : whole;
  switch (sent) {
    case "missing":
      if (["optional", "default", "nullable"].includes(schema)) return null;
      return whole === "body"
        ? { type: undefined, at: "body" }
        : { type: "missing", at: isJSON(parameter) ? whole : at };
    case "broken":
      return parameter === "file" ? { type: "form_invalid", at: "form" } : { type: "json_invalid", at: "body" };
    case "wrong type":
      return { type: "content_type", at: source };
    case "mistyped":
      return { type: parameter === "file" ? "file_type" : mistypedType(schema, isJSON(parameter)), at };
    case "unfit":
      return { type: UNFIT[schema] ?? "less_than_equal", at };
    default:
      return null;
  }
}

const UNFIT: Readonly<Partial<Record<Combination["schema"], string>>> = {
  format: "string_format",
  enum: "enum",
  union: "union_tag_invalid",
  standard: "value_error",
};

function mistypedType(schema: Combination["schema"], inJSON: boolean): string | undefined {
  if (schema === "union" || (schema === "standard" && !inJSON)) return undefined;
  if (schema === "standard") return "value_error";
  if (schema === "none" || schema === "format") return "string_type";
  if (schema === "enum") return "enum";
  if (schema === "date") return inJSON ? "datetime_type" : "datetime_parsing";
  return inJSON ? "int_type" : "int_parsing";
}

/** The code of the error at registration, if there is one; `undefined` is undecided. */
export function refusalOf(c: Combination): string | undefined {
  // security.md, Optional credentials; dependencies.md, Once an application; errors.md
  if (c.credentials === "optional, no scheme") return "TSGI_OPTIONAL_WITHOUT_SCHEME";
  if (c.dependency === "outlives another" || c.dependency === "app, of a request") return "TSGI_DEPENDENCY_SCOPE";
  // parameters.md, Bodies: `Body` together with `Form` or `File`
  if (c.guard === "reads a body") return "TSGI_BODY_AND_FORM";
  // concurrency.md: values that a handler outside of the event loop cannot accept
  if (c.handler === "in a process") {
    return c.stream === "none" ? "TSGI_PLAIN_HANDLER_PARAMETER" : "TSGI_STREAM_NOT_ON_EVENT_LOOP";
  }
  return schemaRefusal(c);
}

/** parameters.md, uploads.md, "Refused at registration". */
function schemaRefusal({ parameter, schema }: Combination): string | undefined {
  const isStructure = schema === "object" || schema === "union";
  if (parameter === "file") {
    if (schema === "default") return "TSGI_INVALID_FILE_DEFAULT";
    return schema === "standard" ? undefined : "TSGI_INVALID_FILE_SCHEMA";
  }
  if (parameter === "bare") return schema === "nullable" ? "TSGI_INVALID_DEFAULT" : undefined;
  if (parameter === "path" && (schema === "default" || schema === "nullable")) return "TSGI_PATH_PARAMETER_DEFAULT";
  return isStructure && !isJSON(parameter) ? "TSGI_SCHEMA_NOT_READABLE_FROM_TEXT" : undefined;
}
