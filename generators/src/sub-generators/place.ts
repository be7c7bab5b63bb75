import type { ExistingProject, Module } from "../code/existing-project.js";
import type { Registrar } from "../code/registrars.js";
import { CommandError } from "../errors.js";
import { quoteName } from "../project-name.js";

/** Where a route goes. */
export interface Place {
  module: Module;
  registrar: Registrar;
  /** What of the path the prefix of the Router leaves. */
  path: string;
}

/** What registers a path. Middleware and the like come after these, and stay there. */
const registersPaths = /^(?:get|post|put|patch|delete|head|options|trace|route|websocket|includeRouter|mount)$/;

/** The Router with the longest prefix that a path begins with, whole segments counted; else the App. */
export function findPlace(project: ExistingProject, path: string, file?: string): Place {
  if (file !== undefined) {
    return placeIn(project, path, file);
  }
  const routers = project.modules.flatMap((module) =>
    module.registrars
      .filter(({ kind, prefix }) => kind === "Router" && prefix !== "" && isBelow(path, prefix))
      .map((registrar) => ({ module, registrar, path: path.slice(registrar.prefix.length) })),
  );
  const [longest] = routers.toSorted((a, b) => b.registrar.prefix.length - a.registrar.prefix.length);
  return longest ?? { ...project.app, path };
}

function placeIn(project: ExistingProject, path: string, file: string): Place {
  const name = file.replaceAll("\\", "/").replace(/^\.\//, "");
  const module = project.modules.find((candidate) => candidate.path === name);
  const registrar = module?.registrars[0];
  if (!module || !registrar) {
    const known = project.modules.map((candidate) => candidate.path).join(", ");
    throw new CommandError(`${quoteName(file)} holds no App and no Router; there is: ${known || "none"}`);
  }
  if (!isBelow(path, registrar.prefix)) {
    throw new CommandError(`${file} serves paths below ${registrar.prefix}, and ${path} is none`);
  }
  return { module, registrar, path: path.slice(registrar.prefix.length) };
}

function isBelow(path: string, prefix: string): boolean {
  return prefix === "" || path === prefix || path.startsWith(`${prefix}/`);
}

/** The file in which a route of this method and path is registered already, or `null`. */
export function findRoute(project: ExistingProject, method: string, path: string): string | null {
  const found = project.modules.find(({ registrars }) =>
    registrars.some(({ prefix, registrations }) =>
      registrations.some((registration) => registration.method === method && prefix + registration.path === path),
    ),
  );
  return found?.path ?? null;
}

/** Behind the last path that is registered on it, else behind its declaration. */
export function endOfPaths({ declaration, registrations }: Registrar) {
  return registrations.findLast(({ method }) => registersPaths.test(method))?.statement ?? declaration;
}
