/** Defaults of schemas: checked once, copied for each request. @module */
import { type ConfigurationError, configurationError } from "../common/exceptions.js";
import type { SchemaCheck } from "./check.js";
import { Faults } from "./faults.js";

/** JSON text of a default: a Date in it is written as it travels. */
function write(value: unknown, name: string): string {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch {
    // A bigint or a cycle.
  }
  throw configurationError("TSGI_VALUE_WITHOUT_JSON_FORM.default", name);
}

/**
 * Compiles a default, which is written in its external form: it is checked and converted like any other value, and each
 * request gets a separate one. A function is called for each.
 *
 * @param name - What the default belongs to, for the message.
 * @throws ConfigurationError when it does not fit.
 */
export function compileDefault(value: unknown, check: SchemaCheck, name: string): () => unknown {
  const isMade = typeof value === "function";
  const text = isMade ? "" : write(value, name);
  const make = () => {
    const faults = new Faults();
    const result = check(JSON.parse(isMade ? write((value as () => unknown)(), name) : text), faults);
    const [fault] = faults.list;
    if (fault) throw unfit(name, value, fault.msg);
    return result;
  };
  const first = make();
  return isMade || (typeof first === "object" && first !== null) ? make : () => first;
}

/** The error for a default that its schema refuses. */
export function unfit(name: string, value: unknown, msg: string): ConfigurationError {
  const instead =
    value === null
      ? " With `default: null` in a schema the type of the value cannot see the null: write " +
        "`Query(schema, { default: null })`, or `t.Optional(schema)` for `undefined`."
      : "";
  return configurationError("TSGI_INVALID_DEFAULT", name, msg, instead);
}
