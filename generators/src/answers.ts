import type { CommandOptions, Database, PackageManager, TemplateName } from "./options.js";
import { databases, templateNames } from "./options.js";
import type { Environment } from "./npm-flags.js";
import { detectPackageManager } from "./package-manager.js";

/** Everything that a person can be asked for. */
export interface Answers {
  name: string;
  template: TemplateName;
  /** Counts for a template that has one only. */
  database: Database;
  docker: boolean;
  loadTests: boolean;
  ci: boolean;
  packageManager: PackageManager;
  git: boolean;
  install: boolean;
}

/** What the person who makes a project decides about its files. */
export interface ProjectOptions {
  answers: Omit<Answers, "git" | "install">;
  /** The version of the generator, kept in the project for a later upgrade. */
  generatorVersion: string;
}

/** The answers that the files of a project depend on, its name apart. */
const keptAnswers = ["template", "database", "docker", "loadTests", "ci", "packageManager"] as const;

/** Whether the applications of a template keep their data in a database. */
export const hasDatabase = (template: TemplateName): boolean => template === "auth";

/** The answers that are kept in a project, for a later upgrade to start from. */
export function keptAnswersOf(answers: Omit<Answers, "git" | "install">): Record<string, string | boolean> {
  const kept = keptAnswers.filter((answer) => answer !== "database" || hasDatabase(answers.template));
  return Object.fromEntries(kept.map((answer) => [answer, answers[answer]]));
}

/** What is taken where no flag and nobody at a terminal says otherwise. */
export function defaultAnswers(environment: Environment): Answers {
  return {
    name: "my-app",
    template: templateNames[0],
    database: databases[0],
    docker: true,
    loadTests: true,
    ci: true,
    packageManager: detectPackageManager(environment),
    git: true,
    install: true,
  };
}

/** What the flags have settled already. */
export function answersOf(options: CommandOptions): Partial<Answers> {
  const { name, template, database, docker, loadTests, ci, packageManager, git, install } = options;
  const all = { name, template, database, docker, loadTests, ci, packageManager, git, install };
  return Object.fromEntries(Object.entries(all).filter(([, answer]) => answer !== undefined));
}

/** The defaults that fill the gaps, as a line to print, or `null` when there is no gap. */
export function describeDefaults(given: Partial<Answers>, answers: Answers): string | null {
  const words = Object.entries(answers)
    .filter(([key]) => !(key in given) && (key !== "database" || hasDatabase(answers.template)))
    .map(([key, value]) => `${wordsOf(key)} ${typeof value === "boolean" ? (value ? "yes" : "no") : value}`);
  return words.length === 0 ? null : `Not asked, so the defaults are taken: ${words.join(", ")}.`;
}

/** `loadTests` as `load tests`. */
function wordsOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
