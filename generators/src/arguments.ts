import { basename, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "./errors.js";
import { findFlagTakenByNpm, isYesTakenByNpm, type Environment } from "./npm-flags.js";
import { flags, type CommandOptions, type Flag } from "./options.js";
import { findNameFault, quoteName } from "./project-name.js";
import { findFault, withAccounts } from "./runtime-answers.js";

const aboutNpm = 'with npm, write flags after "--": npm create tsgi my-app -- --yes';

type FlagValue = string | boolean | readonly string[];

/** A parsed command line. */
export interface Line {
  /** The values of the flags, by key. */
  values: ReadonlyMap<string, FlagValue>;
  /** The words that are not flags, in order. */
  words: readonly string[];
}

/**
 * Parses a command line.
 *
 * @throws UsageError for an unknown flag or value, and a flag given twice
 */
export function readLine<Key extends string>(argv: readonly string[], known: readonly Flag<Key>[]): Line {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      known.map(({ name, short, value }) => [
        name,
        { type: value ? ("string" as const) : ("boolean" as const), ...(short ? { short } : {}) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const seen = new Map<string, string>();
  const values = new Map<string, FlagValue>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") {
      words.push(token.value);
    } else if (token.kind === "option") {
      const flag = known.find(({ name }) => name === token.name);
      if (!flag) {
        throw new UsageError(`unknown flag ${quoteName(token.rawName)} (see --help)`);
      }
      const earlier = seen.get(flag.key);
      if (earlier) {
        throw new UsageError(
          earlier === flag.name ? `--${flag.name} is given twice` : `--${earlier} and --${flag.name} contradict`,
        );
      }
      seen.set(flag.key, flag.name);
      values.set(flag.key, readValue(flag, token.value, token.inlineValue === true));
    }
  }
  return { values, words };
}

/**
 * Parses the command line of a new project. A path is relative to the current folder.
 *
 * @throws UsageError for an unknown flag or value, a flag given twice, a second name, a name that npm refuses, and for
 * a flag that npm took for itself.
 */
export function parseArguments(argv: readonly string[], environment: Environment): CommandOptions {
  const options: CommandOptions = { yes: false, force: false, dryRun: false, json: false, help: false, version: false };
  const { values, words } = readLine(argv, flags);
  // readLine has checked choices, and returns a boolean for a switch.
  Object.assign(options, Object.fromEntries(values));
  Object.assign(options, readWords(words, options.into));
  options.help ||= words[0] === "help" && words.length === 1 && !options.yes;
  if (!options.help && !options.version) {
    const taken = findFlagTakenByNpm(environment, new Set(values.keys()));
    if (taken) {
      throw new UsageError(`npm took ${taken} as its own flag; ${aboutNpm}`);
    }
    options.yes ||= isYesTakenByNpm(environment);
    Object.assign(options, withAccounts(options));
    const fault = findFault(options);
    if (fault !== null) {
      throw new UsageError(fault);
    }
  }
  return options;
}

function readWords(words: readonly string[], into?: string): Pick<CommandOptions, "name" | "into"> {
  const [word, unexpected] = words;
  const flag = words.find((text) => text.startsWith("-") && text.length > 1);
  if (flag !== undefined) {
    throw new UsageError(`${quoteName(flag)} follows a "--" that is not needed here (${aboutNpm})`);
  }
  const place = word === undefined ? {} : readPlace(word, into);
  if (word !== undefined && unexpected !== undefined) {
    throw new UsageError(`unexpected argument ${quoteName(unexpected)} after the name ${quoteName(word)}; ${aboutNpm}`);
  }
  return place;
}

/** Tells a path from a name, such as `@scope/name`. On Windows, a backslash separates too. */
export function isPlace(word: string, platform = process.platform): boolean {
  const isName = word.startsWith("@") || !word.includes("/");
  return word === "." || word === ".." || !isName || (platform === "win32" && word.includes("\\"));
}

/** The name of a project, and the parent of its folder for a path: `../apps/shop`, or `.` for the current folder. */
function readPlace(word: string, into = "."): Pick<CommandOptions, "name" | "into"> {
  const isPath = isPlace(word);
  const folder = isPath ? resolve(into, word) : word;
  const name = isPath ? basename(folder) : word;
  const fault = findNameFault(name);
  if (fault !== null) {
    throw new UsageError(isPath ? `${fault}; a project has the name of its folder` : fault);
  }
  return isPath ? { name, into: dirname(folder) } : { name };
}

function readValue(flag: Flag<string>, value: string | undefined, inline: boolean): FlagValue {
  if (!flag.value) {
    if (value !== undefined) {
      throw new UsageError(`--${flag.name} takes no value`);
    }
    return flag.sets ?? true;
  }
  if (value === undefined || value === "" || (!inline && value.startsWith("-"))) {
    throw new UsageError(`--${flag.name} needs a value: --${flag.name} <${flag.value}>`);
  }
  if (flag.choices && !flag.choices.includes(value)) {
    throw new UsageError(`--${flag.name} ${quoteName(value)} is unknown; write one of ${flag.choices.join(", ")}`);
  }
  return flag.several ? readList(flag, flag.several, value) : value;
}

/** The names of a list, in the order of the choices. */
function readList({ name }: Flag<string>, choices: readonly string[], value: string): readonly string[] {
  const names = value === "none" ? [] : value.split(",").map((word) => word.trim());
  const unknown = names.find((word) => !choices.includes(word));
  if (unknown !== undefined) {
    throw new UsageError(`--${name} ${quoteName(unknown)} is unknown; write some of ${choices.join(", ")}`);
  }
  return choices.filter((word) => names.includes(word));
}
