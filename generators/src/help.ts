import { flags, type Flag } from "./options.js";
import { packageFlags, packageUsage, subFlags, upgradeFlags } from "./sub-command.js";
import { subGenerators } from "./sub-generators.js";
import type { SubGenerator } from "./sub-generators/sub-generator.js";

function usage({ name, short, value }: Flag<string>): string {
  return `${short ? `-${short}, ` : "    "}--${name}${value ? ` <${value}>` : ""}`;
}

/** Lines in two columns. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([first]) => first.length));
  const indent = `\n${" ".repeat(width + 4)}`;
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second.replaceAll("\n", indent)}`).join("\n");
}

const flagTable = (known: readonly Flag<string>[]) => table(known.map((flag) => [usage(flag), flag.help]));

export function helpText(): string {
  return `Usage: create-tsgi [name] [flags]

Creates a tsgi project in the folder ./<name>, installs it, and prints the next commands. In a terminal, it
prompts for missing options. Otherwise it uses the defaults and prints them. The name must be a valid npm name. For
@scope/name, the folder is the part after the slash.

  npm create tsgi my-app
  npm create tsgi my-app -- --yes        write flags after "--"
  create-tsgi my-app --into ~/projects   writes ~/projects/my-app
  create-tsgi ../apps/shop               writes ../apps/shop, with the name shop
  create-tsgi .                          writes into the current folder, with its name

Flags:
${flagTable(flags)}

A package with routes, for several applications:
${table([[`create-tsgi ${packageUsage}`, "its router, options, a store to replace, and tests, in ./<name>"]])}

In the folder of a project (add --help for details):
${table([
  ...Object.values(subGenerators).map(({ usage: call, help }) => [`create-tsgi ${call}`, help] as const),
  ["create-tsgi upgrade", "changes of newer templates, merged with yours"],
])}

Exit status: 0 complete, 1 failed, 2 invalid command line, 130 cancelled.
`;
}

/** The text of `create-tsgi route --help`, and of the others. */
export function subHelpText(generator: SubGenerator): string {
  return `Usage: create-tsgi ${generator.usage} [flags]

Writes ${generator.help}. Existing code does not change.

  create-tsgi ${generator.example}

Flags:
${flagTable(subFlags)}
`;
}

/** The text of `create-tsgi package --help`. */
export function packageHelpText(): string {
  return `Usage: create-tsgi ${packageUsage} [flags]

Writes a package with routes, which applications include in their routes, into the folder ./<name>.

  create-tsgi package announcements

Flags:
${flagTable(packageFlags)}
`;
}

/** The text of `create-tsgi upgrade --help`. */
export function upgradeHelpText(): string {
  return `Usage: create-tsgi upgrade [flags]

Merges the changes of newer templates into the project in the current folder and keeps your changes. If both changed the
same lines, the file contains both versions between Git's conflict markers. It does not delete files.

  npx create-tsgi@latest upgrade --dry-run

Flags:
${flagTable(upgradeFlags)}

Exit status: 0 it is done, 1 it failed or there are conflicts to decide, 2 the command line is wrong.
`;
}
