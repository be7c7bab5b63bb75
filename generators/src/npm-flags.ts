import { flags } from "./options.js";

export type Environment = Readonly<Record<string, string | undefined>>;

const isStartedByNpm = (environment: Environment) =>
  environment["npm_command"] === "init" || environment["npm_command"] === "exec";

/** npm has these too, with the same meaning, or a user may have set them for every call. */
const shared: ReadonlySet<string> = new Set(["yes", "help", "version", "force"]);

const variableOf = (name: string) => `npm_config_${name.replaceAll("-", "_")}`;

/**
 * The first flag of this command that npm took, or `null`. `npm create tsgi my-app --dry-run` silently treats the flag as one
 * of npm and passes on only `my-app`. Only a variable of the environment is left of it. Observed with npm 10 and 11, which both
 * write `--no-install` as an empty string.
 *
 * @param given the flags that arrived
 */
export function findFlagTakenByNpm(environment: Environment, given: ReadonlySet<string>): string | null {
  if (!isStartedByNpm(environment)) {
    return null;
  }
  for (const { name, key, value } of flags.filter(({ sets }) => sets !== false)) {
    const taken = shared.has(name) || given.has(key) ? undefined : environment[variableOf(name)];
    const isOff = taken === "" || taken === "false";
    if (isOff && flags.some((flag) => flag.name === `no-${name}`)) {
      return `--no-${name}`;
    }
    // `git` is also an option of npm: the path of the program.
    if (taken !== undefined && name !== "git" && (value !== undefined || !isOff)) {
      return `--${name}`;
    }
  }
  return null;
}

/** True for `npm create tsgi my-app --yes`: npm takes the flag, which has the same meaning for its own question. */
export function isYesTakenByNpm(environment: Environment): boolean {
  return environment["npm_command"] === "init" && environment["npm_config_yes"] === "true";
}

/** The environment for npm in another folder, without the variables that the surrounding npm has set. */
export function environmentForNpm(environment: Environment): NodeJS.ProcessEnv {
  const own = new Set(flags.filter(({ name }) => name !== "git").map(({ name }) => variableOf(name)));
  const ofThisRun =
    /^npm_(?:command|lifecycle_.*|package_.*|config_(?:local_prefix|workspaces?|include_workspace_root))$/i;
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !ofThisRun.test(name) && !own.has(name.toLowerCase())),
  );
}
