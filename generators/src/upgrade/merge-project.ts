import { isRecord, parseJson, sortKeys, textsOf, toJson, type JsonObject } from "../json.js";
import { mergeJson } from "./merge-json.js";
import { mergeText } from "./merge-text.js";

/**
 * The action of an upgrade for a file. `removed` was deleted by the user, `obsolete` left the template; both
 * stay as they are.
 */
export type UpgradeAction = "create" | "overwrite" | "merge" | "conflict" | "removed" | "obsolete";

/** The action for one file. */
export interface UpgradeEntry {
  path: string;
  action: UpgradeAction;
  /** The new content; `null` keeps the file. */
  contents: Buffer | null;
  /** The conflicts to resolve. */
  conflicts: readonly string[];
}

export type Files = ReadonlyMap<string, Buffer>;

/** The three sides. */
export interface Sides {
  /** The files of the project. */
  ours: Files;
  /** The files of the old template. */
  base: Files;
  /** The files of the new template. */
  theirs: Files;
}

/** Plans the action for each file. Files that the template has not changed are left out. */
export function mergeProject(sides: Sides, label: string): UpgradeEntry[] {
  const paths = new Set([...sides.base.keys(), ...sides.theirs.keys()]);
  return [...paths].toSorted().flatMap((path) => mergeFile(path, sides, label) ?? []);
}

function mergeFile(path: string, { ours, base, theirs }: Sides, label: string): UpgradeEntry | null {
  const [own, before, other] = [ours.get(path), base.get(path), theirs.get(path)];
  const entry = (action: UpgradeAction, contents: Buffer | null = null) => ({ path, action, contents, conflicts: [] });
  if (other === undefined) {
    return own === undefined ? null : entry("obsolete");
  }
  if (before?.equals(other) || own?.equals(other)) {
    return null;
  }
  if (own === undefined) {
    return before === undefined ? entry("create", other) : entry("removed");
  }
  if (before?.equals(own)) {
    return entry("overwrite", other);
  }
  return mergeBoth(path, { own, before, other }, label);
}

function mergeBoth(
  path: string,
  { own, before, other }: { own: Buffer; before: Buffer | undefined; other: Buffer },
  label: string,
): UpgradeEntry {
  if ([own, other].some((contents) => contents.includes(0))) {
    return { path, action: "conflict", contents: null, conflicts: ["binary file: yours is kept"] };
  }
  const texts = [own, before ?? Buffer.alloc(0), other].map(String);
  const [ours = "", base = "", theirs = ""] = texts;
  const { value, conflicts } =
    path === "package.json" || path === "deno.json"
      ? mergeManifest(ours, base, theirs)
      : mergeText(ours, base, theirs, label);
  return { path, action: conflicts.length > 0 ? "conflict" : "merge", contents: Buffer.from(value), conflicts };
}

function mergeManifest(ours: string, base: string, theirs: string) {
  const read = (text: string): JsonObject => (text === "" ? {} : parseJson(text, "the manifest"));
  const { value, conflicts } = mergeJson(read(ours), read(base), read(theirs));
  for (const key of ["dependencies", "devDependencies", "imports"]) {
    if (isRecord(value[key])) {
      // Sorted, as package managers keep them.
      value[key] = sortKeys(textsOf(value[key]));
    }
  }
  return { value: toJson(value), conflicts };
}
