import {
  type CommandOptions,
  type Database,
  type Deploy,
  type Extra,
  type PackageManager,
  type Runtime,
  type TemplateName,
  templateNames,
} from "./options.js";
import { databasesOf } from "./databases.js";
import type { Environment } from "./npm-flags.js";
import { detectPackageManager } from "./package-manager.js";
import { deploysOf, needsImage, runtimesFor } from "./deploys.js";
import { extrasFor } from "./extras.js";
import { profileOf } from "./runtimes.js";

/** The options of a new project. */
export interface Answers {
  name: string;
  template: TemplateName;
  /** Applies only to templates with a database. */
  database: Database;
  /** Defaults to Node. */
  runtime?: Runtime;
  /** The platform whose files are written. Defaults to `"none"`. */
  deploy?: Deploy;
  /** The optional parts. Defaults to an empty list. */
  extras?: readonly Extra[];
  /** The items of users, in the template `auth`. Defaults to `true`. */
  items?: boolean;
  docker: boolean;
  loadTests: boolean;
  ci: boolean;
  packageManager: PackageManager;
  git: boolean;
  install: boolean;
}

/** The options that determine the files of a project. */
export interface ProjectOptions {
  answers: Omit<Answers, "git" | "install">;
  /** The version of the generator, kept in the project for a later upgrade. */
  generatorVersion: string;
}

/** The options that determine the files of a project, without its name. */
const keptAnswers = [
  "template",
  "database",
  "runtime",
  "deploy",
  "extras",
  "items",
  "docker",
  "loadTests",
  "ci",
  "packageManager",
] as const;

/** The options recorded in a project, for a later upgrade. */
export function keptAnswersOf(answers: Omit<Answers, "git" | "install">): Record<string, string | boolean> {
  // Defaults are left out: earlier versions of this package, which an upgrade runs, do not know all flags.
  const kept = keptAnswers.filter(
    (answer) =>
      // `--deploy cloudflare` leaves no choice of a runtime, and has one that is not the default.
      (answer === "runtime" || (answer === "items" ? answers.items === false : isUsed(answer, answers))) &&
      !["node", "none", ""].includes(String(answers[answer] ?? "")),
  );
  return Object.fromEntries(
    kept.flatMap((answer) => {
      const value = answers[answer];
      return value === undefined ? [] : [[answer, typeof value === "object" ? value.join(",") : value] as const];
    }),
  );
}

/** False for an option that does not affect the files of the project. */
export function isUsed(
  answer: string,
  answers: Pick<Answers, "template" | "database" | "runtime" | "deploy" | "extras" | "items" | "docker">,
): boolean {
  const { template, runtime } = answers;
  const { parts, installer } = profileOf(runtime);
  switch (answer) {
    case "database":
      return databasesOf(template).length > 0 && profileOf(runtime).databases;
    case "runtime":
      return runtimesFor(answers).length > 1;
    case "deploy":
      return deploysOf(answers).length > 1;
    case "extras":
      return extrasFor(answers).length > 0;
    case "packageManager":
      return installer === null;
    case "docker":
      return parts.includes(answer) && !hasImage(answers);
    case "loadTests":
      return parts.includes(answer);
    default:
      return answer !== "items"; // which only the flag leaves out
  }
}

/** True if a project needs the Dockerfile. */
function hasImage({ deploy, extras = [] }: Pick<Answers, "deploy" | "extras">): boolean {
  return needsImage(deploy) || extras.includes("nginx");
}

/** The options without a flag and without a terminal. */
export function defaultAnswers(environment: Environment): Answers {
  return {
    name: "my-app",
    template: templateNames[0],
    database: databasesOf(templateNames[0])[0] ?? "none",
    runtime: "node",
    deploy: "none",
    extras: [],
    items: true,
    docker: true,
    loadTests: true,
    ci: true,
    packageManager: detectPackageManager(environment),
    git: true,
    install: true,
  };
}

/** The options set by flags. */
export function answersOf(options: CommandOptions): Partial<Answers> {
  const {
    name,
    template,
    database,
    runtime,
    deploy,
    extras,
    items,
    docker,
    loadTests,
    ci,
    packageManager,
    git,
    install,
  } = options;
  const all = {
    name,
    template,
    database,
    runtime,
    deploy,
    extras,
    items,
    docker,
    loadTests,
    ci,
    packageManager,
    git,
    install,
  };
  return Object.fromEntries(Object.entries(all).filter(([, answer]) => answer !== undefined));
}

/** The defaults of missing options as a line to print, or `null`. */
export function describeDefaults(given: Partial<Answers>, answers: Answers): string | null {
  const words = Object.entries(answers)
    .filter(([key]) => !(key in given) && isUsed(key, answers))
    .map(([key, value]) => `${wordsOf(key)} ${describeValue(value)}`);
  return words.length === 0 ? null : `Using these defaults: ${words.join(", ")}.`;
}

function describeValue(value: string | boolean | readonly string[]): string {
  if (typeof value === "boolean") {
    return value ? "yes" : "no";
  }
  return typeof value === "string" ? value : value.join(" ") || "none";
}

/** `loadTests` as `load tests`. */
function wordsOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
