import { isUsed, type Answers } from "./answers.js";
import { databases, packageManagers } from "./options.js";
import { profileOf, runtimesOf } from "./runtimes.js";

/** The facts that questions depend on. */
export interface Surroundings {
  /** The reason that a name cannot be used, or `null`. */
  findNameFault: (name: string) => string | null;
  /** True if a project of this name can become a Git repository. */
  canBeRepository: (name: string) => boolean;
}

/** The questions for missing answers, in order. */
export function createQuestions(given: Partial<Answers>, defaults: Answers, surroundings: Surroundings) {
  /** Asks for an answer that no flag has given, and that something depends on. */
  const whenOpen = (key: keyof Answers) => (asked: Partial<Answers>) =>
    !(key in given) && isUsed(key, { ...defaults, ...given, ...asked });
  const confirm = (key: "docker" | "loadTests" | "ci" | "git" | "install", message: string) => ({
    type: "confirm" as const,
    name: key,
    message,
    default: defaults[key],
    when: whenOpen(key),
  });
  const select = (
    key: "template" | "database" | "runtime" | "packageManager",
    message: string,
    choices: readonly string[],
  ) => ({
    type: "select" as const,
    name: key,
    message,
    choices: [...choices],
    default: defaults[key],
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
    select("template", "What to start from", profileOf(given.runtime).templates),
    select("database", "Database", databases),
    {
      ...select("runtime", "Where it runs", []),
      choices: ({ template = given.template ?? defaults.template }: Partial<Answers>) => [...runtimesOf(template)],
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
