import { mcp } from "@tsgi/mcp";
import type { App } from "tsgi";

import { bearer } from "../oidc/account.js"; // with oidc

/** The routes with the option `mcp` as tools for agents, at `/mcp`. A tool needs the same token as its route. */
export const tools = (app: App) => mcp(app, bearer ? { auth: bearer } : {}); // with oidc
// without oidc: export const tools = (app: App) => mcp(app);
