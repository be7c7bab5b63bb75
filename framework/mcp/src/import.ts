/** The package for `import`: if its library is missing, it throws the error that says what to install. @module */
import { missing } from "./missing.js";

await import("@modelcontextprotocol/server").catch(missing);

export const { mcp } = await import("./index.js");
