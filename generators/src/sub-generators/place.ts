import type { ExistingProject, Module } from "../code/existing-project.js";
import type { Registrar } from "../code/registrars.js";
import { CommandError } from "../errors.js";
import { quoteName } from "../project-name.js";

/** The place of a new route. */
export interface Place {
  module: Module;
  registrar: Registrar;
  /** The path without the prefix of the Router. */
  path: string;
}

/** Methods that register a path. Calls such as `addMiddleware` stay after them. */
const registersPaths = /^(?:get|post|put|patch|delete|head|options|trace|route|websocket|includeRouter|mount)$/;

/** The Router whose prefix matches most segments of a path, else the App. */
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
    throw new CommandError(`${quoteName(file)} has no App and no Router; write one of: ${known || "none"}`);
  }
  if (!isBelow(path, registrar.prefix)) {
    throw new CommandError(`${file} serves paths below ${registrar.prefix}, not ${path}`);
  }
  return { module, registrar, path: path.slice(registrar.prefix.length) };
}

function isBelow(path: string, prefix: string): boolean {
  return prefix === "" || path === prefix || path.startsWith(`${prefix}/`);
}

/** The file that already registers this method and pattern, or `null`. */
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

/** The key of a pattern, without names of parameters. Repeated slashes count for WebSockets only, which match exactly. */
function shapeOf(method: string, path: string): string {
  const unnamed = path.replaceAll(/\{[^}]*\}/g, "{}");
  return method === "websocket" ? unnamed : unnamed.split("/").filter(Boolean).join("/");
}

/** After the last path registered on it, else after its declaration. */
export function endOfPaths({ declaration, registrations }: Registrar) {
  return registrations.findLast(({ method }) => registersPaths.test(method))?.statement ?? declaration;
}
