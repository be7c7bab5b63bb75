import { parseArguments } from "./arguments.js";
import { flags, type CommandOptions } from "./options.js";

/** What Yeoman makes of the flags that stand behind `yo tsgi`. */
export type YeomanOptions = Readonly<Record<string, unknown>>;

/**
 * Reads what Yeoman has read already as this package reads a command line: with its choices, and its words for what is
 * wrong. Yeoman knows `--no-git` as `git: false`, and has options of its own, which are left to it.
 *
 * @throws UsageError as {@link parseArguments} does
 */
export function readAnswersOf(words: readonly string[], options: YeomanOptions): CommandOptions {
  const argv = flags.flatMap(({ name, value, sets }) => {
    // `--no-x` is what its opposite reads as.
    const given = sets === false ? undefined : (options[name] ?? options[camelCase(name)]);
    if (value !== undefined) {
      return typeof given === "string" ? [`--${name}=${given}`] : [];
    }
    if (given === false && flags.some((flag) => flag.name === `no-${name}`)) {
      return [`--no-${name}`];
    }
    return given === true ? [`--${name}`] : [];
  });
  return parseArguments([...argv, ...words], {});
}

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
