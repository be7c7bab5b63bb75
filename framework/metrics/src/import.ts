/** The package for `import`: if its library is missing, it throws the error that says what to install. @module */
import { missing } from "./missing.js";

await import("prom-client").catch(missing);

export const { prometheus } = await import("./index.js");
