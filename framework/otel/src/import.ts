/** The package for `import`: if its library is missing, it throws the error that says what to install. @module */
import { missing } from "./missing.js";

await import("@opentelemetry/api").catch(missing);

export const { openTelemetry, startTracing } = await import("./index.js");
