/** The package for `import`: if a library is missing, it throws the error that says what to install. @module */
import { missing } from "./missing.js";

// jose is first: openid-client imports it, and Jest cannot link a module for two importers at the same time.
await import("jose").catch(missing);
await import("openid-client").catch(missing);

export const { oidcLogin } = await import("./index.js");
