/** `typebox.ts` in bundles for the web, without the functions that a JSON API does not need: they are a third of TypeBox. @module */
import * as builder from "./typebox-functions.js";
import { configurationError } from "../common/exceptions.js";

/** TypeBox's functions that no schema of JSON uses, and those that only compute types of others at registration. */
const LEFT_OUT =
  "Argument AsyncIterator Awaited BigInt Capitalize Constructor ConstructorParameters Exclude Extends Extract Function " +
  "InstanceType Instantiate Iterator Lowercase Mapped Parameters Promise RegExp ReturnType Symbol Uint8Array " +
  "Uncapitalize Undefined Uppercase Void";

/** The builder. A function that is left out throws an error that states where to import it from. */
export const Type = {
  ...Object.fromEntries(
    LEFT_OUT.split(" ").map((name) => [
      name,
      () => {
        throw configurationError("TSGI_SCHEMA_FUNCTION_LEFT_OUT", name);
      },
    ]),
  ),
  ...builder,
};
