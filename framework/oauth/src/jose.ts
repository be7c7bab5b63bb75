/** The library for JSON Web Tokens, or the error with the command that installs it. @module */
import type * as Library from "jose";
import { missingPackage } from "tsgi/internals";
import { oauthError } from "./errors.js";

export const jose: typeof Library = await import("jose").catch(missingPackage(() => oauthError("TSGI_MISSING_JOSE")));
