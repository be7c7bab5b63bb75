import { keptAnswersOf, type ProjectOptions } from "./answers.js";
import { isOptional, packagesOf } from "./database-packages.js";
import { LeftOut } from "./features.js";
import { specifiersOf, vendoredPins, type UsedPackages } from "./framework-packages.js";
import { hasExtra } from "./extras.js";
import { parseJson, sortKeys, textsOf, toJson, type JsonObject } from "./json.js";
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
      // A project has a .env file. The environment overrides it, and production does not use it.
      .replaceAll(/\bnode (?=dist\/)/g, "node --env-file-if-exists=.env ")
  );
}

const readManifest = (files: Template["files"]): JsonObject =>
  parseJson(files.get("package.json")?.contents.toString("utf8") ?? "{}", "package.json");

/** The parts of package.json that the overlay and the jobs add. Those of the overlay take precedence. */
function addedTo({ overlay, jobs }: Template, { answers }: ProjectOptions) {
  const ofJobs = hasExtra(answers, "jobs") && jobs ? readManifest(jobs) : {};
  const ofOverlay = readManifest(overlay);
  const merged = (key: string) => ({ ...textsOf(ofJobs[key]), ...textsOf(ofOverlay[key]) });
  return {
    scripts: merged("scripts"),
    dependencies: merged("dependencies"),
    devDependencies: merged("devDependencies"),
    engines: ofOverlay["engines"] ?? ofJobs["engines"],
  };
}

/** The scripts of a project. */
export function scriptsOf(template: Template, options: ProjectOptions): Record<string, string> {
  const { answers } = options;
  const isNode = answers.runtime === undefined || answers.runtime === "node";
  const leftOut = new LeftOut(answers);
  const scripts = {
    ...(isNode ? textsOf(readManifest(template.files)["scripts"]) : {}),
    ...addedTo(template, options).scripts,
  };
  return Object.fromEntries(
    Object.entries(scripts)
      .filter(([name]) => !leftOut.hasScript(name))
      .map(([name, script]) => [name, adaptScript(script, installerOf(answers))]),
  );
}

/** Converts the template's package.json for a project outside the workspace. */
export function renderPackageJson(template: Template, options: ProjectOptions, used: UsedPackages): string {
  const { workspace, generator, files, packages } = template;
  const { answers } = options;
  const { engines, tsgi, dependencies, devDependencies } = readManifest(files);
  const added = addedTo(template, options);
  const leftOut = new LeftOut(answers);
  const { tools: usedTools } = profileOf(answers.runtime);
  const others = (versions: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(versions).filter(([name]) => !packages.has(name) && !isOptional(name, workspace)),
    );
  const optional = packagesOf(answers, workspace);
  const tools = {
    ...others(textsOf(devDependencies)),
    ...workspace.devDependencies,
    ...optional.devDependencies,
    ...(generator && { "create-tsgi": generator.specifier }),
  };
  return toJson({
    name: answers.name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: scriptsOf(template, options),
    dependencies: sortKeys({
      ...others(textsOf(dependencies)),
      ...optional.dependencies,
      ...added.dependencies,
      ...specifiersOf(used.dependencies),
    }),
    devDependencies: sortKeys({
      ...added.devDependencies,
      ...Object.fromEntries(
        Object.entries(tools).filter(([name]) => usedTools.test(name) && !leftOut.hasPackage(name)),
      ),
      ...specifiersOf(used.devDependencies),
    }),
    ...renderPins({ ...vendoredPins(used), ...workspace.overrides }, installerOf(answers)),
    engines: added.engines ?? engines,
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
