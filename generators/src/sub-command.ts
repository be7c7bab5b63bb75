import { readLine } from "./arguments.js";
import { UsageError } from "./errors.js";
import { subCommandNames, type Flag } from "./options.js";
import { quoteName } from "./project-name.js";
import { subGenerators } from "./sub-generators.js";
import type { SubGenerator } from "./sub-generators/sub-generator.js";

/** The command line of a sub-generator. */
export interface SubCommandOptions {
  generator: SubGenerator;
  parameters: readonly string[];
  file?: string;
  dryRun: boolean;
  json: boolean;
  yes: boolean;
  help: boolean;
}

/** Every flag of the sub-generators. */
export const subFlags: readonly Flag<"file" | "dryRun" | "json" | "yes" | "help">[] = [
  { name: "in", value: "file", key: "file", help: "the file to add a route to, e.g. src/routes/orders.ts" },
  { name: "dry-run", key: "dryRun", help: "list the files without writing them" },
  { name: "json", key: "json", help: "print one JSON document for programs" },
  { name: "yes", short: "y", key: "yes", help: "do not prompt" },
  { name: "help", short: "h", key: "help", help: "show this text" },
];

/**
 * Parses the command line of a sub-generator.
 *
 * @param argv begins with its name
 * @throws UsageError for an unknown name or flag, and too many words
 */
export function parseSubCommand([name = "", ...argv]: readonly string[]): SubCommandOptions {
  const known = subCommandNames.find((word) => word === name);
  if (known === undefined) {
    throw new UsageError(`${quoteName(name)} is not a sub-generator; write one of ${subCommandNames.join(", ")}`);
  }
  const generator = subGenerators[known];
  const { values, words } = readLine(argv, subFlags);
  const file = values.get("file");
  const isSet = (key: string) => values.get(key) === true;
  const most = generator.parameters[1];
  if (words.length > most) {
    throw new UsageError(`unexpected argument ${quoteName(words[most] ?? "")}; usage: create-tsgi ${generator.usage}`);
  }
  return {
    generator,
    parameters: words,
    ...(typeof file === "string" ? { file } : {}),
    dryRun: isSet("dryRun"),
    json: isSet("json"),
    yes: isSet("yes"),
    help: isSet("help"),
  };
}

/** Every flag of an upgrade. */
export const upgradeFlags: readonly Flag<"from" | "force" | "dryRun" | "json" | "help">[] = [
  { name: "dry-run", key: "dryRun", help: "list the changes without writing them" },
  {
    name: "from",
    value: "package",
    key: "from",
    help: "the package that created the project, if not create-tsgi@<version> of the registry",
  },
  { name: "force", key: "force", help: "upgrade despite changes that are not committed" },
  { name: "json", key: "json", help: "print one JSON document for programs" },
  { name: "help", short: "h", key: "help", help: "show this text" },
];

/**
 * Parses the command line of an upgrade.
 *
 * @throws UsageError for an unknown flag, and for any word
 */
export function parseUpgrade(argv: readonly string[]) {
  const { values, words } = readLine(argv, upgradeFlags);
  if (words[0] !== undefined) {
    throw new UsageError(`unexpected argument ${quoteName(words[0])}; usage: create-tsgi upgrade [flags]`);
  }
  const from = values.get("from");
  const isSet = (key: string) => values.get(key) === true;
  return {
    ...(typeof from === "string" ? { from } : {}),
    force: isSet("force"),
    dryRun: isSet("dryRun"),
    json: isSet("json"),
    help: isSet("help"),
  };
}
