/**
 * Tools for agents: `@tsgi/mcp`.
 *
 * These errors are thrown when you import the package, or when your application starts. See [agents.md](agents.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /**
   * A route with the option `mcp` cannot be a tool.
   *
   * A tool accepts JSON with the names of the parameters, and its name must be unique in the application. Set the name
   * with `mcp: { name }`.
   */
  "TSGI_INVALID_TOOL.name": (name: string) =>
    `${JSON.stringify(name)} is not a name of a tool: write 1 to 128 letters, digits, _, - and . into mcp: { name }.`,
  "TSGI_INVALID_TOOL.duplicate": (name: string, other: string) =>
    `the tool ${JSON.stringify(name)} is ${other} already. Give each one a name: mcp: { name }.`,
  "TSGI_INVALID_TOOL.method": (method: string) =>
    `a tool cannot call ${method}. Offer routes of GET, POST, PUT, PATCH and DELETE.`,
  "TSGI_INVALID_TOOL.files": "a tool takes JSON, and this route takes files. Offer a route that takes a URL or text.",
  "TSGI_INVALID_TOOL.body": (method: string) =>
    `a tool cannot send a body with ${method}. Declare its members with Query(), or take POST.`,
  "TSGI_INVALID_TOOL.header": (header: unknown, path: string) =>
    `"x-mcp-header": ${JSON.stringify(header)} of ${JSON.stringify(path)} makes clients reject the tool: write a different token ` +
    "for each argument, on a string, an integer or a boolean that is not in an array, a union or a schema with an $id.",
  /** You import `@tsgi/mcp`, but its peer dependency, the official SDK, is not installed. */
  TSGI_MISSING_MCP_SDK:
    "@tsgi/mcp requires the package @modelcontextprotocol/server, which cannot be loaded. " +
    "Run: npm install @modelcontextprotocol/server@2",
};

/** Makes an error of this package. */
export const mcpError = errorsOf(MESSAGES);
