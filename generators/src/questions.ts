import { isUsed, type Answers } from "./answers.js";
import { databasesOf } from "./databases.js";
import { extrasFor } from "./extras.js";
import { choiceLines, extraNames, packageManagers } from "./options.js";
import { fitDefaults } from "./runtime-answers.js";
import { canDeploy, deploysOf, runtimeOf, runtimesFor } from "./deploys.js";
import { profileOf } from "./runtimes.js";

/** The facts that questions depend on. */
export interface Surroundings {
  /** The reason that a name cannot be used, or `null`. */
  findNameFault: (name: string) => string | null;
  /** True if a project of this name can become a Git repository. */
  canBeRepository: (name: string) => boolean;
}

const extrasQuestion = {
  type: "checkbox" as const,
  name: "extras" as const,
  message: "Optional parts",
  pageSize: extraNames.length,
};

/** The prompts for missing options, in order. */
export function createQuestions(given: Partial<Answers>, defaults: Answers, surroundings: Surroundings) {
  /** Prompts for an option that no flag has set, and that has an effect. */
  const known = (asked: Partial<Answers>) => {
    const chosen = { ...given, ...asked };
    return { ...fitDefaults(defaults, chosen), ...chosen };
  };
  const whenOpen = (key: keyof Answers) => (asked: Partial<Answers>) => !(key in given) && isUsed(key, known(asked));
  const confirm = (key: "docker" | "loadTests" | "ci" | "git" | "install", message: string) => ({
    type: "confirm" as const,
    name: key,
    message,
    default: defaults[key],
    when: whenOpen(key),
  });
  const select = (
    key: "template" | "database" | "runtime" | "deploy" | "packageManager",
    message: string,
    choices: readonly string[] | ((asked: Partial<Answers>) => readonly string[]),
  ) => ({
    type: "select" as const,
    name: key,
    message,
    choices: (asked: Partial<Answers>) =>
      (typeof choices === "function" ? choices(asked) : choices).map((value) => toChoice(key, value)),
    default: (asked: Partial<Answers>) => known(asked)[key],
    when: whenOpen(key),
  });
  return [
    {
      type: "input" as const,
      name: "name" as const,
      message: "Name of the project",
      default: defaults.name,
      when: whenOpen("name"),
      validate: (name: string) => surroundings.findNameFault(name) ?? true,
    },
    select(
      "template",
      "Template",
      profileOf(runtimeOf(given)).templates.filter((name) => canDeploy(name, given.deploy)),
    ),
    select("database", "Database", (asked) => databasesOf(known(asked).template)),
    select("runtime", "Runtime", (asked) => runtimesFor(known(asked))),
    select("deploy", "Deploy to", (asked) => deploysOf(known(asked))),
    {
      ...extrasQuestion,
      choices: (asked: Partial<Answers>) => extrasFor(known(asked)).map((value) => toChoice("extras", value)),
      when: whenOpen("extras"),
    },
    confirm("docker", "Write a Dockerfile and a compose.yaml"),
    confirm("loadTests", "Write a load test"),
    confirm("ci", "Write a workflow for GitHub Actions"),
    select("packageManager", "Package manager", packageManagers),
    {
      ...confirm("git", "Make it a Git repository"),
      when: (asked: Partial<Answers>) =>
        whenOpen("git")(asked) && surroundings.canBeRepository(asked.name ?? given.name ?? defaults.name),
    },
    confirm("install", "Install the dependencies now"),
  ];
}

/** A choice with its line, if it has one. The input is shown without it. */
function toChoice(key: string, value: string) {
  const lines: Readonly<Record<string, Readonly<Record<string, string>>>> = choiceLines;
  const line = lines[key]?.[value];
  return { name: line === undefined ? value : `${value}: ${line}`, value, short: value };
}
