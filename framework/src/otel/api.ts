import type * as API from "@opentelemetry/api";
import { configurationError } from "../exceptions.js";

/** `@opentelemetry/api`, an optional peer dependency. */
export const api: typeof API = await import("@opentelemetry/api").catch((cause: unknown) => {
  throw Object.assign(configurationError("TSGI_MISSING_OPENTELEMETRY"), { cause });
});
