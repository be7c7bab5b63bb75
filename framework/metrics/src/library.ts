/** Loads `prom-client`, the peer dependency. @module */
import { metricsError } from "./errors.js";
import type * as Library from "prom-client";
import { missingPackage } from "tsgi/internals";

/** `prom-client`, an optional peer dependency. */
export const library: typeof Library = await import("prom-client").catch(
  missingPackage(() => metricsError("TSGI_MISSING_PROM_CLIENT")),
);
