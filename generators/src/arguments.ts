import { parseArgs } from "node:util";
import { UsageError } from "./errors.js";
import { findFlagTakenByNpm, isYesTakenByNpm, type Environment } from "./npm-flags.js";
import { nearestCommand } from "./near-command.js";
import { flags, type CommandOptions, type Flag } from "./options.js";
import { findNameFault, quoteName } from "./project-name.js";

const aboutNpm = 'through npm, flags stand after "--": npm create tsgi my-app -- --yes';

/** A command line, taken apart. */
export interface Line {
  /** What each flag sets, by its key. */
  values: ReadonlyMap<string, string | boolean>;
  /** The words that are no flags, in their order. */
  words: readonly string[];
}

/**
 * Takes a command line apart.
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
  const values = new Map<string, string | boolean>();
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
 * Reads the command line of a new project. Nothing has been looked at or written when it throws.
 *
 * @throws UsageError for an unknown flag or value, a flag given twice, a second name, a name that is no npm name or nearly a command, and
 * for a flag that npm has kept for itself.
 */
export function parseArguments(argv: readonly string[], environment: Environment): CommandOptions {
  const options: CommandOptions = { yes: false, force: false, dryRun: false, json: false, help: false, version: false };
  const { values, words } = readLine(argv, flags);
  // The value of a flag with choices is one of them, that of a switch is a boolean: readLine has seen to it.
  Object.assign(options, Object.fromEntries(values));
  for (const word of words) {
    options.name = readName(word, options.name);
  }
  if (!options.help && !options.version) {
    const taken = findFlagTakenByNpm(environment, new Set(values.keys()));
    if (taken) {
      throw new UsageError(`npm kept ${taken} for itself; ${aboutNpm}`);
    }
    options.yes ||= isYesTakenByNpm(environment);
    refuseNearCommand(options);
  }
  return options;
}

/** A command with a letter wrong would make a project of that name. */
function refuseNearCommand({ name, yes }: CommandOptions): void {
  const meant = name === undefined || yes ? null : nearestCommand(name);
  if (name !== undefined && meant !== null) {
    throw new UsageError(
      `unknown command ${quoteName(name)}; did you mean create-tsgi ${meant} …? ` +
        "(--yes makes a project of this name all the same)",
    );
  }
}

function readName(value: string, earlier: string | undefined): string {
  if (value.startsWith("-") && value.length > 1) {
    throw new UsageError(`${quoteName(value)} stands after a "--" that is not needed here (${aboutNpm})`);
  }
  if (earlier !== undefined) {
    const meant = nearestCommand(earlier);
    const advice = meant === null ? aboutNpm : `did you mean create-tsgi ${meant} …?`;
    throw new UsageError(`unexpected argument ${quoteName(value)} after the name ${quoteName(earlier)}; ${advice}`);
  }
  const fault = findNameFault(value);
  if (fault !== null) {
    throw new UsageError(fault);
  }
  return value;
}

function readValue(flag: Flag<string>, value: string | undefined, inline: boolean): string | boolean {
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
    throw new UsageError(`--${flag.name} ${quoteName(value)} is unknown; there is: ${flag.choices.join(", ")}`);
  }
  return value;
}
