import { importPath, type Module } from "../code/existing-project.js";
import type { Registrar } from "../code/registrars.js";
import { CommandError } from "../errors.js";
import { kebabOf, pathName, readName } from "./names.js";
import { endOfPaths } from "./place.js";
import type { Change, SubGenerator } from "./sub-generator.js";
import { routeTest } from "./test-file.js";

/** Adds a module with a Router, includes it in the App, and adds a test. */
export const router: SubGenerator = {
  usage: "router <name>",
  help: "a router with two routes, included in the app, and its test",
  example: "router orders",
  parameters: [1, 1],
  plan(project, { parameters: [word = ""], readCode }) {
    const segments = word.replace(/^\//, "");
    const name = readName(segments, "router", pathName);
    const prefix = `/${kebabOf(segments)}`;
    const { kebab, camel } = name;
    const path = `src/routes/${kebab}.ts`;
    const including = includeRouter(project.app, camel, path);
    const test = routeTest(project, {
      name: kebab,
      title: `responds to paths below ${prefix}`,
      module: path,
      calls: [
        { method: "GET", path: prefix, names: {}, status: 200, answer: [] },
        { method: "GET", path: `${prefix}/{id}`, names: { id: 1 }, status: 404 },
      ],
    });
    return {
      changes: [{ path, text: readCode("router", { ...name, prefix }), isNew: true }, ...including, test],
      notes: [],
    };
  },
};

/** An App, and the module that creates it. */
interface RegisteringApp {
  module: Pick<Module, "path" | "file">;
  registrar: Registrar;
}

/**
 * Includes a Router in the App.
 *
 * @returns the change of the App's module, or undefined if it includes the Router
 */
export function includeRouter({ module, registrar }: RegisteringApp, variable: string, path: string): Change[] {
  const { file } = module;
  const from = importPath(module.path, path);
  const isImported = file.imports.some(({ source }) => source.value === from);
  if (!isImported && file.declares(variable)) {
    throw new CommandError(`${module.path} already declares ${variable}: choose another name`);
  }
  const isIncluded = registrar.registrations.some(
    ({
      method,
      call: {
        arguments: [first],
      },
    }) => {
      return method === "includeRouter" && first?.type === "Identifier" && first.name === variable;
    },
  );
  if (isImported && isIncluded) {
    return [];
  }
  const name = file.importName(from, variable);
  const lastRouter = registrar.registrations.findLast(({ method }) => method === "includeRouter");
  file.insertAfter(
    lastRouter?.statement ?? endOfPaths(registrar),
    `${registrar.variable}.includeRouter(${name});`,
    lastRouter ? "line" : "paragraph",
  );
  return [{ path: module.path, text: file.toString(), isNew: false }];
}
