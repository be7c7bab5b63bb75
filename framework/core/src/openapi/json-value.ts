/** Values of examples and defaults, as JSON. @module */
import { configurationError } from "../common/exceptions.js";

/** A value as a document holds it. @throws ConfigurationError for one that JSON cannot write. */
export function toJSONValue(value: unknown): unknown {
  if (value === undefined || value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (Number.isFinite(value)) return value;
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    throw configurationError("TSGI_VALUE_WITHOUT_JSON_FORM.example", (error as Error).message);
  }
}
