/** The package for `require()`, which cannot load modules that wait. @module */
import { createRequire } from "node:module";
import { missing } from "./missing.js";
import type * as Main from "./index.js";

const require = createRequire(import.meta.url);

try {
  require.resolve("jose");
} catch (error) {
  missing(error);
}

export const { AccessTokens, JWTBearer, protectedResource, RefreshTokens } = require("./index.js") as typeof Main;
