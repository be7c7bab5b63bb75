import { CommandError } from "../errors.js";
import { isLoadTest, loadScripts } from "../features.js";
import { isRecord, sortKeys, textsOf, toJson } from "../json.js";
import { packageManagers, templateNames } from "../options.js";
import { commandsOf } from "../package-manager.js";
import { profileOf } from "../runtimes.js";
import type { SubGenerator } from "./sub-generator.js";

/** Adds the load test to a project that was created without one. */
export const loadTest: SubGenerator = {
  usage: "load-test",
  help: "the load test, in a project that was created without one",
  example: "load-test",
  parameters: [0, 0],
  plan(project, { templates }) {
    if (!profileOf(project.runtime).parts.includes("loadTests")) {
      throw new CommandError("the load test runs on Node, and this project does not");
    }
    const template = templateNames.find((name) => name === project.kept["template"]) ?? "minimal";
    const { files, overlay, workspace } = templates.read(template);
    const changes = [...files, ...overlay]
      .filter(([path]) => isLoadTest(path))
      .map(([path, { contents }]) => ({ path, text: contents.toString("utf8"), isNew: true }));
    const sources = [files, overlay].map((texts) => texts.get("package.json")?.contents.toString("utf8") ?? "{}");
    const scripts = Object.fromEntries(
      sources.flatMap((text) => {
        const manifest: unknown = JSON.parse(text);
        const all = textsOf(isRecord(manifest) ? manifest["scripts"] : undefined);
        return Object.entries(all).filter(([name]) => loadScripts.includes(name));
      }),
    );
    const { manifest } = project;
    const autocannon = workspace.devDependencies["autocannon"];
    const changed = {
      ...manifest,
      scripts: { ...textsOf(manifest["scripts"]), ...missing(scripts, manifest["scripts"]) },
      devDependencies: sortKeys({ ...(autocannon ? { autocannon } : {}), ...textsOf(manifest["devDependencies"]) }),
      "create-tsgi": { ...project.kept, loadTests: true },
    };
    const { run, install } = commandsOf(
      packageManagers.find((name) => name === project.kept["packageManager"]) ?? "npm",
    );
    return {
      changes: [...changes, { path: "package.json", text: toJson(changed), isNew: false }],
      notes: [`${install} installs its packages, ${run} load runs it.`],
    };
  },
};

/** The missing files. Existing ones stay unchanged. */
function missing(scripts: Readonly<Record<string, string>>, present: unknown): Record<string, string> {
  const known = textsOf(present);
  return Object.fromEntries(Object.entries(scripts).filter(([name]) => !(name in known)));
}
