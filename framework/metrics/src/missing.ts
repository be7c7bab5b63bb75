/** Throws the error that says how to install the library of this package. @module */
import { metricsError } from "./errors.js";
import { missingPackage } from "tsgi/internals";

export const missing = missingPackage(() => metricsError("TSGI_MISSING_PROM_CLIENT"));
