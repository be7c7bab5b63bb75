/** Throws the error that says how to install the library of this package. @module */
import { oauthError } from "./errors.js";
import { missingPackage } from "tsgi/internals";

export const missing = missingPackage(() => oauthError("TSGI_MISSING_JOSE"));
