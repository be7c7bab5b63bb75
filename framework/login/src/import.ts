/** The package for `import`: if a library is missing, it throws the error that says what to install. @module */
import { missing } from "./missing.js";

await Promise.all([import("openid-client"), import("jose")]).catch(missing);

export const { oidcLogin } = await import("./index.js");
