import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonObject } from "../json.js";
import type { Merged } from "./merge-text.js";

/**
 * Merges two versions of a JSON object by members: unlike lines, neighbouring members do not conflict. If both have
 * changed a member, ours is kept.
 *
 * @param place the path of the object, for conflicts
 */
export function mergeJson(ours: JsonObject, base: JsonObject, theirs: JsonObject, place = ""): Merged<JsonObject> {
  const conflicts: string[] = [];
  const members: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const path = place === "" ? key : `${place}.${key}`;
    const [own, before, other] = [ours, base, theirs].map((side) => (Object.hasOwn(side, key) ? side[key] : undefined));
    if (isDeepStrictEqual(own, other) || isDeepStrictEqual(before, other)) {
      members.push([key, own]);
    } else if (isDeepStrictEqual(own, before)) {
      members.push([key, other]);
    } else if (isRecord(own) && isRecord(other)) {
      const inner = mergeJson(own, isRecord(before) ? before : {}, other, path);
      members.push([key, inner.value]);
      conflicts.push(...inner.conflicts);
    } else {
      members.push([key, own]);
      conflicts.push(
        `${path}: yours ${JSON.stringify(own) ?? "removed"}, the template's ${JSON.stringify(other) ?? "removed"}`,
      );
    }
  }
  return { value: Object.fromEntries(members.filter(([, value]) => value !== undefined)), conflicts };
}
