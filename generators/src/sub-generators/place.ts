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

/**
 * The Router with the longest prefix that a path begins with, whole segments counted; else the App.
 *
 * @param fits which Routers are taken, of those that `--in` does not name
 */
export function findPlace(
  project: ExistingProject,
  path: string,
  file?: string,
  fits: (registrar: Registrar) => boolean = () => true,
): Place {
  if (file !== undefined) {
    return placeIn(project, path, file);
  }
  const routers = project.modules.flatMap((module) =>
    module.registrars
      .filter(({ kind, prefix }) => kind === "Router" && prefix !== "" && isBelow(path, prefix))
      .filter(fits)
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

/** The file in which a route of this method and pattern is registered already, or `null`. */
export function findRoute(project: ExistingProject, method: string, path: string): string | null {
  const shape = shapeOf(method, path);
  const found = project.modules.find(({ registrars }) =>
    registrars.some(({ prefix, registrations }) =>
      registrations.some(
        (known) => known.method === method && known.path !== null && shapeOf(method, prefix + known.path) === shape,
      ),
    ),
  );
  return found?.path ?? null;
}

/** What tells patterns apart: not the names of parameters, and the number of slashes only where WebSockets match exactly. */
function shapeOf(method: string, path: string): string {
  const unnamed = path.replaceAll(/\{[^}]*\}/g, "{}");
  return method === "websocket" ? unnamed : unnamed.split("/").filter(Boolean).join("/");
}

/** Behind the last path that is registered on it, else behind its declaration. */
export function endOfPaths({ declaration, registrations }: Registrar) {
  return registrations.findLast(({ method }) => registersPaths.test(method))?.statement ?? declaration;
}
