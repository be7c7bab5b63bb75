import { parseArgs } from "node:util";
import { UsageError } from "./errors.js";
import { findFlagTakenByNpm, isYesTakenByNpm, type Environment } from "./npm-flags.js";
import { nearestCommand } from "./near-command.js";
import { flags, type CommandOptions, type Flag } from "./options.js";
import { findNameFault, quoteName } from "./project-name.js";
import { findFault } from "./runtime-answers.js";

const aboutNpm = 'with npm, write flags after "--": npm create tsgi my-app -- --yes';

/** A parsed command line. */
export interface Line {
  /** The values of the flags, by key. */
  values: ReadonlyMap<string, string | boolean>;
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
 * Parses the command line of a new project, without access to the file system.
 *
 * @throws UsageError for an unknown flag or value, a flag given twice, a second name, a name that npm refuses or that resembles a command, and
 * for a flag that npm took for itself.
 */
export function parseArguments(argv: readonly string[], environment: Environment): CommandOptions {
  const options: CommandOptions = { yes: false, force: false, dryRun: false, json: false, help: false, version: false };
  const { values, words } = readLine(argv, flags);
  // readLine has checked choices, and returns a boolean for a switch.
  Object.assign(options, Object.fromEntries(values));
  for (const word of words) {
    options.name = readName(word, options.name);
  }
  options.help ||= options.name === "help" && words.length === 1 && !options.yes;
  if (!options.help && !options.version) {
    const taken = findFlagTakenByNpm(environment, new Set(values.keys()));
    if (taken) {
      throw new UsageError(`npm took ${taken} as its own flag; ${aboutNpm}`);
    }
    options.yes ||= isYesTakenByNpm(environment);
    refuseNearCommand(options);
    const fault = findFault(options);
    if (fault !== null) {
      throw new UsageError(fault);
    }
  }
  return options;
}

/** A command with a letter wrong would create a project of that name. */
function refuseNearCommand({ name, yes }: CommandOptions): void {
  const meant = name === undefined || yes ? null : nearestCommand(name);
  if (name !== undefined && meant !== null) {
    throw new UsageError(
      `unknown command ${quoteName(name)}; did you mean create-tsgi ${meant} …? ` +
        "(use --yes to create a project with this name)",
    );
  }
}

function readName(value: string, earlier: string | undefined): string {
  if (value.startsWith("-") && value.length > 1) {
    throw new UsageError(`${quoteName(value)} follows a "--" that is not needed here (${aboutNpm})`);
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
    throw new UsageError(`--${flag.name} ${quoteName(value)} is unknown; write one of ${flag.choices.join(", ")}`);
  }
  return value;
}
