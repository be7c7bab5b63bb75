import { parseJson, textsOf, toJson, type JsonObject } from "./json.js";
import type { ProjectOptions } from "./project.js";
import type { Template } from "./template.js";

/** How the template calls jest in the workspace, and what that is in a project of its own. */
const workspaceJest = /\.\.\/node_modules\/jest\/bin\/jest\.js(?: -c \S+)?(?: --selectProjects \S+)?/g;
const ownJest = "node_modules/jest/bin/jest.js";

function adaptScript(script: string): string {
  // A project has a .env of its own; the environment wins over it, and production goes without.
  return script.replaceAll(workspaceJest, ownJest).replaceAll(/\bnode (?=dist\/)/g, "node --env-file-if-exists=.env ");
}

/** Turns the template's package.json into that of a project which stands alone. */
export function renderPackageJson(text: string, { workspace, framework }: Template, options: ProjectOptions): string {
  const { scripts, engines, dependencies, devDependencies } = parseJson(text, "package.json");
  return toJson({
    name: options.name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: Object.fromEntries(Object.entries(textsOf(scripts)).map(([name, script]) => [name, adaptScript(script)])),
    dependencies: { ...textsOf(dependencies), tsgi: framework.specifier },
    devDependencies: sortKeys({ ...textsOf(devDependencies), ...workspace.devDependencies }),
    ...(Object.keys(workspace.overrides).length > 0 ? { overrides: workspace.overrides } : {}),
    engines,
    // What a later upgrade compares with.
    "create-tsgi": { version: options.generatorVersion, template: options.templateName },
  });
}

function sortKeys(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
