import type { Answers } from "./answers.js";
import { hasDatabase } from "./databases.js";
import { extraPackages, packagesOfExtras } from "./extras.js";
import type { Workspace } from "./template.js";

/** The packages of a project that opens one database through Prisma. */
const packages = {
  sqlite: ["@prisma/adapter-libsql", "@prisma/client", "libsql"],
  postgresql: ["@prisma/adapter-pg", "@prisma/client", "pg"],
  none: [],
} as const;

/** Prisma's command line. */
const tools = ["prisma"];

/** The packages of the sample application that only its tests in the repository use. */
const repositoryPackages = ["@libsql/client", "@prisma/driver-adapter-utils", "@types/pg", "smtp-server"];

/** True for packages that a project has only by its choices. */
export const isOptional = (name: string, { optionalPackages: versions = {} }: Workspace) =>
  name in versions || repositoryPackages.includes(name);

/** The packages that only some projects have: of databases, and of optional parts. */
export const optionalPackages = [
  ...new Set([...Object.values(packages).flat(), ...tools, ...extraPackages]),
].toSorted();

/** The packages that the options need, with their versions. */
export function packagesOf(
  answers: Omit<Answers, "git" | "install">,
  { optionalPackages: versions = {} }: Workspace,
): Record<"dependencies" | "devDependencies", Record<string, string>> {
  const select = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(versions).filter(([name]) => names.includes(name)));
  const extras = packagesOfExtras(answers);
  const isStored = hasDatabase(answers);
  return {
    dependencies: select([...(isStored ? packages[answers.database] : []), ...extras.dependencies]),
    devDependencies: select([...(isStored ? tools : []), ...extras.devDependencies]),
  };
}
