/** Throws the error that says how to install the libraries of this package. @module */
import { loginError } from "./errors.js";
import { missingPackage } from "tsgi/internals";

export const missing = missingPackage(() => loginError("TSGI_MISSING_OPENID_CLIENT"));
