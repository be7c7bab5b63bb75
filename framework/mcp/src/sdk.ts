/** The SDK of the Model Context Protocol, or the error that says what to install. @module */
import { mcpError } from "./errors.js";
import type * as SDK from "@modelcontextprotocol/server";
import { missingPackage } from "tsgi/internals";

export const sdk: typeof SDK = await import("@modelcontextprotocol/server").catch(
  missingPackage(() => mcpError("TSGI_MISSING_MCP_SDK")),
);
