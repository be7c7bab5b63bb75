import type { Answers } from "./answers.js";
import { hasDatabase } from "./databases.js";
import type { Workspace } from "./template.js";

/** The packages of a project that opens one database through Prisma. */
const packages = {
  sqlite: ["@prisma/adapter-libsql", "@prisma/client", "libsql"],
  postgresql: ["@prisma/adapter-pg", "@prisma/client", "pg"],
  none: [],
} as const;

/** Prisma's command line. */
const tools = ["prisma"];

/** The packages of all databases. */
export const databasePackages = [...new Set([...Object.values(packages).flat(), ...tools])].toSorted();

/**
 * The packages that the options need, with their versions. The template `auth`, which has both databases, lists its
 * own.
 */
export function packagesOf(
  answers: Pick<Answers, "template" | "database">,
  { databasePackages: versions = {} }: Workspace,
): Record<"dependencies" | "devDependencies", Record<string, string>> {
  const select = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(versions).filter(([name]) => names.includes(name)));
  return hasDatabase(answers)
    ? { dependencies: select(packages[answers.database]), devDependencies: select(tools) }
    : { dependencies: {}, devDependencies: {} };
}
