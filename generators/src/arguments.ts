import { parseArgs } from "node:util";
import { UsageError } from "./errors.js";
import { findFlagTakenByNpm, isYesTakenByNpm, type Environment } from "./npm-flags.js";
import { flags, type CommandOptions, type Flag } from "./options.js";
import { findNameFault, quoteName } from "./project-name.js";

const aboutNpm = 'through npm, flags stand after "--": npm create tsgi my-app -- --yes';

/**
 * Reads the command line. Nothing has been looked at or written when it throws.
 *
 * @throws UsageError for an unknown flag or value, a flag given twice, a second name, a name that is no npm name, and
 * for a flag that npm has kept for itself.
 */
export function parseArguments(argv: readonly string[], environment: Environment): CommandOptions {
  const options: CommandOptions = { yes: false, force: false, dryRun: false, json: false, help: false, version: false };
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      flags.map(({ name, short, value }) => [
        name,
        { type: value ? ("string" as const) : ("boolean" as const), ...(short ? { short } : {}) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const seen = new Map<Flag["key"], string>();
  for (const token of tokens) {
    if (token.kind === "positional") {
      options.name = readName(token.value, options.name);
    } else if (token.kind === "option") {
      const flag = flags.find(({ name }) => name === token.name);
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
      setOption(options, flag, readValue(flag, token.value, token.inlineValue === true));
    }
  }

  if (!options.help && !options.version) {
    const taken = findFlagTakenByNpm(environment, new Set(seen.keys()));
    if (taken) {
      throw new UsageError(`npm kept ${taken} for itself; ${aboutNpm}`);
    }
    options.yes ||= isYesTakenByNpm(environment);
  }
  return options;
}

function readName(value: string, earlier: string | undefined): string {
  if (value.startsWith("-") && value.length > 1) {
    throw new UsageError(`${quoteName(value)} stands after a "--" that is not needed here (${aboutNpm})`);
  }
  if (earlier !== undefined) {
    throw new UsageError(`unexpected argument ${quoteName(value)} after the name ${quoteName(earlier)}; ${aboutNpm}`);
  }
  const fault = findNameFault(value);
  if (fault !== null) {
    throw new UsageError(fault);
  }
  return value;
}

function readValue(flag: Flag, value: string | undefined, inline: boolean): string | undefined {
  if (!flag.value) {
    if (value !== undefined) {
      throw new UsageError(`--${flag.name} takes no value`);
    }
    return undefined;
  }
  if (value === undefined || value === "" || (!inline && value.startsWith("-"))) {
    throw new UsageError(`--${flag.name} needs a value: --${flag.name} <${flag.value}>`);
  }
  if (flag.choices && !flag.choices.includes(value)) {
    throw new UsageError(`--${flag.name} ${quoteName(value)} is unknown; there is: ${flag.choices.join(", ")}`);
  }
  return value;
}

function setOption(options: CommandOptions, flag: Flag, value: string | undefined): void {
  // The value of a flag with choices is one of them, that of a switch is a boolean: readValue has seen to it.
  Object.assign(options, { [flag.key]: flag.value ? value : (flag.sets ?? true) });
}
