import { isRecord, parseJson, sortKeys, textsOf, toJson, type JsonObject } from "../json.js";
import { mergeJson } from "./merge-json.js";
import { mergeText } from "./merge-text.js";

/**
 * What an upgrade does with a file: makes it anew, takes the template's, merges both, leaves both sides in it for a
 * person, or leaves the user's: one that was removed, or that the template has no more.
 */
export type UpgradeAction = "create" | "overwrite" | "merge" | "conflict" | "removed" | "obsolete";

/** One file that an upgrade has something to say about. */
export interface UpgradeEntry {
  path: string;
  action: UpgradeAction;
  /** What is written; `null` leaves the file as it is. */
  contents: Buffer | null;
  /** What a person has to decide. */
  conflicts: readonly string[];
}

/** The files of a project, by path. */
export type Files = ReadonlyMap<string, Buffer>;

/** The three sides. */
export interface Sides {
  /** As they are in the project. */
  ours: Files;
  /** As the template made them when the project was made. */
  base: Files;
  /** As the template makes them today. */
  theirs: Files;
}

/** Works out what becomes of each file. What the template has not changed is not mentioned. */
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
    return { path, action: "conflict", contents: null, conflicts: ["it is no text: yours stays"] };
  }
  const texts = [own, before ?? Buffer.alloc(0), other].map(String);
  const [ours = "", base = "", theirs = ""] = texts;
  const { value, conflicts } =
    path === "package.json" ? mergeManifest(ours, base, theirs) : mergeText(ours, base, theirs, label);
  return { path, action: conflicts.length > 0 ? "conflict" : "merge", contents: Buffer.from(value), conflicts };
}

function mergeManifest(ours: string, base: string, theirs: string) {
  const read = (text: string): JsonObject => (text === "" ? {} : parseJson(text, "package.json"));
  const { value, conflicts } = mergeJson(read(ours), read(base), read(theirs));
  for (const key of ["dependencies", "devDependencies"]) {
    if (isRecord(value[key])) {
      // As every package manager keeps them.
      value[key] = sortKeys(textsOf(value[key]));
    }
  }
  return { value: toJson(value), conflicts };
}
