/** Throws the error that says how to install the library of this package. @module */
import { mcpError } from "./errors.js";
import { missingPackage } from "tsgi/internals";

export const missing = missingPackage(() => mcpError("TSGI_MISSING_MCP_SDK"));
