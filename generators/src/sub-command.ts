import { readLine } from "./arguments.js";
import { UsageError } from "./errors.js";
import { subCommandNames, type Flag } from "./options.js";
import { quoteName } from "./project-name.js";
import { subGenerators } from "./sub-generators.js";
import type { SubGenerator } from "./sub-generators/sub-generator.js";

const json = { name: "json", key: "json", help: "print one JSON document for programs" } as const;
const help = { name: "help", short: "h", key: "help", help: "show this text" } as const;
const dryRun = { name: "dry-run", key: "dryRun", help: "list the files without writing them" } as const;

/** Every flag of the sub-generators. */
export const subFlags: readonly Flag<"file" | "dryRun" | "json" | "yes" | "help">[] = [
  { name: "in", value: "file", key: "file", help: "the file to add a route to, e.g. src/routes/orders.ts" },
  dryRun,
  json,
  { name: "yes", short: "y", key: "yes", help: "do not prompt" },
  help,
];

/** Every flag of a new package. */
export const packageFlags: readonly Flag<"dryRun" | "json" | "help">[] = [dryRun, json, help];

/** Every flag of an upgrade. */
export const upgradeFlags: readonly Flag<"from" | "force" | "dryRun" | "json" | "help">[] = [
  { ...dryRun, help: "list the changes without writing them" },
  {
    name: "from",
    value: "package",
    key: "from",
    help: "the package that created the project, if not create-tsgi@<version> of the registry",
  },
  { name: "force", key: "force", help: "upgrade despite changes that are not committed" },
  json,
  help,
];

/**
 * Parses the command line of a command.
 *
 * @param most the largest number of words
 * @throws UsageError for an unknown flag, and for too many words
 */
function parse<Key extends string>(argv: readonly string[], flags: readonly Flag<Key>[], usage: string, most: number) {
  const { values, words } = readLine(argv, flags);
  const [unexpected] = words.slice(most);
  if (unexpected !== undefined) {
    throw new UsageError(`unexpected argument ${quoteName(unexpected)}; usage: create-tsgi ${usage}`);
  }
  return {
    words,
    isSet: (key: Key) => values.get(key) === true,
    textOf: (key: Key) => {
      const value = values.get(key);
      return typeof value === "string" ? value : undefined;
    },
  };
}

/**
 * Parses the command line of a sub-generator.
 *
 * @param argv begins with its name
 * @throws UsageError for an unknown name or flag, and too many words
 */
export function parseSubCommand([name = "", ...argv]: readonly string[]) {
  const known = subCommandNames.find((word) => word === name);
  if (known === undefined) {
    throw new UsageError(`${quoteName(name)} is not a sub-generator; write one of ${subCommandNames.join(", ")}`);
  }
  const generator: SubGenerator = subGenerators[known];
  const { words, isSet, textOf } = parse(argv, subFlags, generator.usage, generator.parameters[1]);
  const [dry, isJson, wantsHelp] = [isSet("dryRun"), isSet("json"), isSet("help")];
  return { generator, parameters: words, file: textOf("file"), dryRun: dry, json: isJson, help: wantsHelp };
}

/** The usage of {@link parsePackage}. */
export const packageUsage = "package <name>";

/**
 * Parses the command line of a new package.
 *
 * @throws UsageError for an unknown flag, a missing name, and a second one
 */
export function parsePackage(argv: readonly string[]) {
  const { words, isSet } = parse(argv, packageFlags, packageUsage, 1);
  const [name = ""] = words;
  if (name === "" && !isSet("help")) {
    throw new UsageError(`<name> is missing; usage: create-tsgi ${packageUsage}`);
  }
  return { name, dryRun: isSet("dryRun"), json: isSet("json"), help: isSet("help") };
}

/**
 * Parses the command line of an upgrade.
 *
 * @throws UsageError for an unknown flag, and for any word
 */
export function parseUpgrade(argv: readonly string[]) {
  const { isSet, textOf } = parse(argv, upgradeFlags, "upgrade [flags]", 0);
  const [from, force] = [textOf("from"), isSet("force")];
  return { from, force, dryRun: isSet("dryRun"), json: isSet("json"), help: isSet("help") };
}
