/** The name of the program, by which its subscriptions are stored. @module */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isRecord } from "tsgi/internals";

/** The `name` of the nearest package.json at or above a folder; `null` without one. */
export function findProgram(from: string = process.cwd()): string | null {
  const file = path.join(from, "package.json");
  if (existsSync(file)) {
    const name = nameIn(file);
    return typeof name === "string" && name !== "" ? name : null;
  }
  const above = path.dirname(from);
  return above === from ? null : findProgram(above);
}

function nameIn(file: string): unknown {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isRecord(content) ? content["name"] : null;
  } catch {
    return null;
  }
}
