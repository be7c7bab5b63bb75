import { keptAnswersOf, type ProjectOptions } from "./answers.js";
import { packagesOf } from "./database-packages.js";
import { LeftOut } from "./features.js";
import { parseJson, sortKeys, textsOf, toJson } from "./json.js";
import { installerOf } from "./runtime-answers.js";
import { profileOf, type Installer } from "./runtimes.js";
import type { Template } from "./template.js";

/** The command of jest in the workspace, and in a project. */
const workspaceJest = /\.\.\/node_modules\/jest\/bin\/jest\.js(?: -c \S+)?(?: --selectProjects \S+)?/g;
const ownJest = "node_modules/jest/bin/jest.js";

/** The build of the framework, which a project has as a package. */
const frameworkBuild = "npm run --silent --prefix ../framework build && ";

/** The command to run another script, by package manager. */
const runSilently: Readonly<Record<Installer, string>> = {
  npm: "npm run --silent ",
  pnpm: "pnpm run --silent ",
  yarn: "yarn run ",
  bun: "bun run --silent ",
  deno: "deno task --quiet ",
};

function adaptScript(script: string, installer: Installer): string {
  return (
    script
      .replaceAll(frameworkBuild, "")
      .replaceAll(workspaceJest, ownJest)
      .replaceAll(/npm run --silent /g, runSilently[installer])
      // A project has a .env file. The environment overrides it, and production has none.
      .replaceAll(/\bnode (?=dist\/)/g, "node --env-file-if-exists=.env ")
  );
}

/** Converts the template's package.json for a project outside the workspace. */
export function renderPackageJson(text: string, template: Template, options: ProjectOptions): string {
  const { workspace, framework, generator, overlay } = template;
  const { answers } = options;
  const installer = installerOf(answers);
  const { scripts, engines, tsgi, dependencies, devDependencies } = parseJson(text, "package.json");
  const added = parseJson(overlay.get("package.json")?.contents.toString("utf8") ?? "{}", "package.json");
  const leftOut = new LeftOut(answers);
  const { tools: usedTools } = profileOf(answers.runtime);
  const isNode = answers.runtime === undefined || answers.runtime === "node";
  const ownScripts = Object.entries({ ...(isNode ? textsOf(scripts) : {}), ...textsOf(added["scripts"]) });
  const database = packagesOf(answers, workspace);
  const tools = {
    ...textsOf(devDependencies),
    ...workspace.devDependencies,
    ...database.devDependencies,
    ...(generator && { "create-tsgi": generator.specifier }),
  };
  return toJson({
    name: answers.name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: Object.fromEntries(
      ownScripts
        .filter(([name]) => !leftOut.hasScript(name))
        .map(([name, script]) => [name, adaptScript(script, installer)]),
    ),
    dependencies: sortKeys({ ...textsOf(dependencies), ...database.dependencies, tsgi: framework.specifier }),
    devDependencies: sortKeys({
      ...textsOf(added["devDependencies"]),
      ...Object.fromEntries(
        Object.entries(tools).filter(([name]) => usedTools.test(name) && !leftOut.hasPackage(name)),
      ),
    }),
    ...renderPins(workspace.overrides, installer),
    engines: added["engines"] ?? engines,
    // The base of a later upgrade.
    "create-tsgi": {
      version: options.generatorVersion,
      ...keptAnswersOf(answers),
    },
    tsgi,
  });
}

/** Versions of indirect dependencies, in the form of the package manager. pnpm has a file for them. */
function renderPins(pins: Readonly<Record<string, string>>, installer: Installer) {
  if (Object.keys(pins).length === 0 || installer === "pnpm") {
    return {};
  }
  return installer === "yarn" ? { resolutions: pins } : { overrides: pins };
}
