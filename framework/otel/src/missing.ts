/** Throws the error that says how to install the library of this package. @module */
import { otelError } from "./errors.js";
import { missingPackage } from "tsgi/internals";

export const missing = missingPackage(() => otelError("TSGI_MISSING_OPENTELEMETRY"));
