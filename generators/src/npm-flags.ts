import type { Flag } from "./options.js";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Trace {
  key: Flag["key"];
  variable: string;
  flag: string;
  isTaken: (value: string) => boolean;
}

/** What is left of a switch, said or denied. */
function switchTraces(key: Flag["key"], name: string): Trace[] {
  const variable = `npm_config_${name.replaceAll("-", "_")}`;
  return [
    { key, variable, flag: `--no-${name}`, isTaken: (value) => value !== "true" },
    { key, variable, flag: `--${name}`, isTaken: () => true },
  ];
}

/**
 * What npm does with `npm create tsgi my-app --dry-run`: it takes the flag for its own, says nothing, and passes on
 * `my-app` alone. All that is left of the flag is a variable. Seen with npm 10 and 11; the empty text is how both write
 * `--no-install`.
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
  // npm has an option `git` of its own, the path of the program, which stays as it is.
  { key: "git", variable: "npm_config_git", flag: "--no-git", isTaken: (value) => value === "" || value === "false" },
];

const isStartedByNpm = (environment: Environment) =>
  environment["npm_command"] === "init" || environment["npm_command"] === "exec";

/** The first flag of ours that npm took away although it was meant for us, or `null`. `given` holds those that arrived. */
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

/** Whether `npm create tsgi my-app --yes` was typed: npm keeps the flag, and to its own question it means the same. */
export function isYesTakenByNpm(environment: Environment): boolean {
  return environment["npm_command"] === "init" && environment["npm_config_yes"] === "true";
}

/** The environment for an npm that is started in another folder: without what the npm around us has set for this one. */
export function environmentForNpm(environment: Environment): NodeJS.ProcessEnv {
  const ofThisRun =
    /^npm_(?:command|lifecycle_.*|package_.*|config_(?:local_prefix|dry_run|force|yes|workspaces?|include_workspace_root|template|into|install|database|package_manager|docker|load_tests|ci|json))$/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofThisRun.test(name)));
}
