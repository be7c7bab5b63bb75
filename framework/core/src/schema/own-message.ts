/** The keyword `errorMessage`: custom messages of validation errors. @module */
import { configurationError } from "../common/exceptions.js";
import { isObject } from "../common/options.js";
import { FAULT_TYPES, type Faults, type FaultType } from "./faults.js";
import type { JSONSchema } from "./json-schema.js";

/** The message for an error of a type; `undefined` leaves the usual one. */
type MessageOf = (type: FaultType) => string | undefined;

/** @throws ConfigurationError for anything but a text, or texts by the type of error. */
function compileMessages(given: unknown): MessageOf {
  if (typeof given === "string") return () => given;
  if (!isObject(given) || !isTable(given)) throw configurationError("TSGI_INVALID_ERROR_MESSAGE", given);
  return (type) => given[type];
}

function isTable(given: object): given is Readonly<Partial<Record<FaultType, string>>> {
  return Object.entries(given).every(([type, text]) => Object.hasOwn(FAULT_TYPES, type) && typeof text === "string");
}

/**
 * A check whose errors have the messages of the schema's keyword `errorMessage`. Errors inside the value, which a property or
 * an item has, keep theirs: `loc` grows from the inside out, so that it is still empty for the schema's own.
 */
export function withOwnMessage<Given, Result>(
  { errorMessage }: JSONSchema,
  run: (value: Given, faults: Faults) => Result,
): (value: Given, faults: Faults) => Result {
  if (errorMessage === undefined) return run;
  const messageOf = compileMessages(errorMessage);
  return (value, faults) => {
    const before = faults.count;
    const result = run(value, faults);
    for (const fault of faults.list.slice(before)) {
      if (fault.loc.length === 0) fault.msg = messageOf(fault.type as FaultType) ?? fault.msg;
    }
    return result;
  };
}
