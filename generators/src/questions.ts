import { hasDatabase, type Answers } from "./answers.js";
import { databases, packageManagers, templateNames } from "./options.js";

/** The facts that questions depend on. */
export interface Surroundings {
  /** The reason that a name cannot be used, or `null`. */
  findNameFault: (name: string) => string | null;
  /** True if a project of this name can become a Git repository. */
  canBeRepository: (name: string) => boolean;
}

/** The questions for missing answers, in order. */
export function createQuestions(given: Partial<Answers>, defaults: Answers, surroundings: Surroundings) {
  const isOpen = (key: keyof Answers) => !(key in given);
  const confirm = (key: "docker" | "loadTests" | "ci" | "git" | "install", message: string) => ({
    type: "confirm" as const,
    name: key,
    message,
    default: defaults[key],
    when: isOpen(key),
  });
  const select = (key: "template" | "database" | "packageManager", message: string, choices: readonly string[]) => ({
    type: "select" as const,
    name: key,
    message,
    choices: [...choices],
    default: defaults[key],
    when: isOpen(key),
  });
  return [
    {
      type: "input" as const,
      name: "name" as const,
      message: "Name of the project",
      default: defaults.name,
      when: isOpen("name"),
      validate: (name: string) => surroundings.findNameFault(name) ?? true,
    },
    select("template", "What to start from", templateNames),
    {
      ...select("database", "Database", databases),
      when: ({ template = given.template ?? defaults.template }: Partial<Answers>) =>
        isOpen("database") && hasDatabase(template),
    },
    confirm("docker", "Write a Dockerfile and a compose.yaml"),
    confirm("loadTests", "Write a load test"),
    confirm("ci", "Write a workflow for GitHub Actions"),
    select("packageManager", "Package manager", packageManagers),
    {
      ...confirm("git", "Make it a Git repository"),
      when: ({ name = given.name ?? defaults.name }: Partial<Answers>) =>
        isOpen("git") && surroundings.canBeRepository(name),
    },
    confirm("install", "Install the dependencies now"),
  ];
}
