/** The package for `require()`, which cannot load modules that wait. @module */
import { createRequire } from "node:module";
import { missing } from "./missing.js";
import type * as Main from "./index.js";

const require = createRequire(import.meta.url);

try {
  require.resolve("openid-client");
  require.resolve("jose");
} catch (error) {
  missing(error);
}

export const { oidcLogin } = require("./index.js") as typeof Main;
