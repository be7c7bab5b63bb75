/** Loads `@opentelemetry/api`, the peer dependency. @module */
import { otelError } from "./errors.js";
import type * as API from "@opentelemetry/api";
import { missingPackage } from "tsgi/internals";

/** `@opentelemetry/api`, an optional peer dependency. */
export const api: typeof API = await import("@opentelemetry/api").catch(
  missingPackage(() => otelError("TSGI_MISSING_OPENTELEMETRY")),
);
