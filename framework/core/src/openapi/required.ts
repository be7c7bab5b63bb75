/** Required properties of an object schema, per direction. @module */
import type { JSONSchema } from "../schema/json-schema.js";
import type { Direction } from "./version.js";

/** On the way in a default makes a property optional, on the way out it is always there. */
export function requiredOf({ properties = {}, required = [] }: JSONSchema, direction: Direction): string[] {
  const hasDefault = (key: string) => Object.hasOwn(properties, key) && Object.hasOwn(properties[key] ?? {}, "default");
  const isRequired =
    direction === "input"
      ? (key: string) => required.includes(key) && !hasDefault(key)
      : (key: string) => required.includes(key) || hasDefault(key);
  const names = Object.keys(properties).filter(isRequired);
  for (const key of required) if (!Object.hasOwn(properties, key)) names.push(key);
  return names;
}
