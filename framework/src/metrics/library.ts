import type * as Library from "prom-client";
import { configurationError } from "../exceptions.js";

/** `prom-client`, an optional peer dependency. */
export const library: typeof Library = await import("prom-client").catch((cause: unknown) => {
  throw Object.assign(configurationError("TSGI_MISSING_PROM_CLIENT"), { cause });
});
