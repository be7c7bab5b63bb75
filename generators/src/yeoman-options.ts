import { flags } from "./options.js";

/** The flags after `yo tsgi`, parsed by Yeoman. */
export type YeomanOptions = Readonly<Record<string, unknown>>;

/** The command line before Yeoman parsed it. Yeoman parses `--no-git` as `git: false`. Its own options are ignored. */
export function argumentsOf(words: readonly string[], options: YeomanOptions): string[] {
  const argv = flags.flatMap(({ name, value, sets }) => {
    // `--no-x` is parsed as its opposite.
    const given = sets === false ? undefined : (options[name] ?? options[camelCase(name)]);
    if (value !== undefined) {
      return typeof given === "string" ? [`--${name}=${given}`] : [];
    }
    if (given === false && flags.some((flag) => flag.name === `no-${name}`)) {
      return [`--no-${name}`];
    }
    return given === true ? [`--${name}`] : [];
  });
  return [...argv, ...words];
}

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
