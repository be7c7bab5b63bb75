/** The package for `require()`, which cannot load modules that wait. @module */
import { createRequire } from "node:module";
import { missing } from "./missing.js";
import type * as Main from "./index.js";

const require = createRequire(import.meta.url);

try {
  require.resolve("@modelcontextprotocol/server");
} catch (error) {
  missing(error);
}

export const { mcp } = require("./index.js") as typeof Main;
