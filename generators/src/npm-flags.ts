import type { Flag } from "./options.js";

export type Environment = Readonly<Record<string, string | undefined>>;

interface Trace {
  key: Flag["key"];
  variable: string;
  flag: string;
  isTaken: (value: string) => boolean;
}

/** The values of a switch in npm's variable. */
function switchTraces(key: Flag["key"], name: string): Trace[] {
  const variable = `npm_config_${name.replaceAll("-", "_")}`;
  return [
    { key, variable, flag: `--no-${name}`, isTaken: (value) => value !== "true" },
    { key, variable, flag: `--${name}`, isTaken: () => true },
  ];
}

/**
 * `npm create tsgi my-app --dry-run` silently treats the flag as one of npm and passes on only `my-app`. Only a
 * variable of the environment is left of it. Observed with npm 10 and 11, which both write `--no-install` as an empty
 * string.
 */
const traces: readonly Trace[] = [
  { key: "dryRun", variable: "npm_config_dry_run", flag: "--dry-run", isTaken: (value) => value === "true" },
  { key: "template", variable: "npm_config_template", flag: "--template", isTaken: () => true },
  { key: "into", variable: "npm_config_into", flag: "--into", isTaken: () => true },
  { key: "database", variable: "npm_config_database", flag: "--database", isTaken: () => true },
  { key: "packageManager", variable: "npm_config_package_manager", flag: "--package-manager", isTaken: () => true },
  { key: "json", variable: "npm_config_json", flag: "--json", isTaken: (value) => value === "true" },
  ...switchTraces("docker", "docker"),
  ...switchTraces("loadTests", "load-tests"),
  ...switchTraces("ci", "ci"),
  ...switchTraces("install", "install"),
  // `git` is also an option of npm: the path of the program.
  { key: "git", variable: "npm_config_git", flag: "--no-git", isTaken: (value) => value === "" || value === "false" },
];

const isStartedByNpm = (environment: Environment) =>
  environment["npm_command"] === "init" || environment["npm_command"] === "exec";

/** The first flag of this command that npm took, or `null`. `given` has the flags that arrived. */
export function findFlagTakenByNpm(environment: Environment, given: ReadonlySet<string>): string | null {
  if (!isStartedByNpm(environment)) {
    return null;
  }
  const trace = traces.find(({ key, variable, isTaken }) => {
    const value = environment[variable];
    return value !== undefined && !given.has(key) && isTaken(value);
  });
  return trace?.flag ?? null;
}

/** True for `npm create tsgi my-app --yes`: npm takes the flag, which has the same meaning for its own question. */
export function isYesTakenByNpm(environment: Environment): boolean {
  return environment["npm_command"] === "init" && environment["npm_config_yes"] === "true";
}

/** The environment for npm in another folder, without the variables that the surrounding npm has set. */
export function environmentForNpm(environment: Environment): NodeJS.ProcessEnv {
  const ofThisRun =
    /^npm_(?:command|lifecycle_.*|package_.*|config_(?:local_prefix|dry_run|force|yes|workspaces?|include_workspace_root|template|into|install|database|package_manager|docker|load_tests|ci|json))$/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofThisRun.test(name)));
}
