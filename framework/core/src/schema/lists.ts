/** Checks of arrays and tuples. @module */
import { plural } from "../common/messages.js";
import { canonicalJSON, type SchemaCheck, type Compiler } from "./check.js";
import type { Faults } from "./faults.js";
import { type JSONSchema, listItems } from "./json-schema.js";

/** A list, or a tuple where `items` (draft-07) or `prefixItems` (2020-12) is a list of schemas. */
export function compileArray(schema: JSONSchema, compiler: Compiler): SchemaCheck {
  const items = listItems(schema);
  const prefix = (items.prefix ?? []).map((item) => compiler.compile(item));
  const rest = typeof items.rest === "object" ? compiler.compile(items.rest) : null;
  const closed = items.rest === false;
  const { minItems = 0, uniqueItems = false } = schema;
  const maxItems = Math.min(schema.maxItems ?? Infinity, closed ? prefix.length : Infinity);
  const checkContains = compileContains(schema, compiler);
  const isEncode = compiler.direction === "encode";

  function checkItem(item: unknown, index: number, faults: Faults): unknown {
    const before = faults.count;
    const check = prefix[index] ?? rest;
    const checked = check ? check(item, faults) : item;
    if (faults.count > before) faults.within(before, index);
    return checked;
  }

  return (value, faults) => {
    if (!Array.isArray(value)) return faults.add("list_type", "Input should be a valid list", value);
    if (value.length < minItems) {
      return faults.add("too_short", `List should have at least ${plural(minItems, "item")}, not ${value.length}`);
    }
    if (value.length > maxItems) {
      return faults.add("too_long", `List should have at most ${plural(maxItems, "item")}, not ${value.length}`);
    }
    const result: unknown[] = [];
    for (let index = 0; index < value.length && !faults.full; index++) {
      // A hole or an `undefined` is `null` in JSON, as `JSON.stringify` has it.
      const item: unknown = value[index] === undefined ? null : value[index];
      result.push(checkItem(item, index, faults));
    }
    if (uniqueItems && !hasUniqueItems(isEncode ? result : value)) {
      faults.add("unique_items", "List should have no item twice");
    }
    checkContains?.(value, faults);
    return result;
  };
}

function hasUniqueItems(items: readonly unknown[]): boolean {
  return new Set(items.map(canonicalJSON)).size === items.length;
}

/** Counts the items that fit the schema of `contains`; `null` where the list has no such rule. */
function compileContains(
  schema: JSONSchema,
  compiler: Compiler,
): ((value: readonly unknown[], faults: Faults) => void) | null {
  if (!schema.contains) return null;
  const check = compiler.compile(schema.contains);
  const { minContains = 1, maxContains = Infinity } = schema;
  return (value, faults) => {
    if (faults.full) return;
    const before = faults.count;
    let found = 0;
    for (const item of value) {
      check(item, faults);
      if (faults.count === before) found++;
      faults.rollback(before);
    }
    if (found < minContains || found > maxContains) {
      faults.add("contains", `List should have ${found < minContains ? "more" : "fewer"} matching items`);
    }
  };
}
