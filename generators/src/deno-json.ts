import { keptAnswersOf, type ProjectOptions } from "./answers.js";
import { allOf, type UsedPackages } from "./framework-packages.js";
import { parseJson, sortKeys, textsOf, toJson } from "./json.js";
import { profileOf } from "./runtimes.js";
import type { Template } from "./template.js";

/** The folder of a package in a project that carries it along: Deno links folders, no tarballs. */
export const linkedFolder = (name: string): string => `vendor/${name}`;

/** Completes the deno.json of the overlay: the framework's packages, and the record of an upgrade. */
export function renderDenoJson({ overlay, workspace }: Template, options: ProjectOptions, used: UsedPackages): string {
  const text = overlay.get("deno.json")?.contents.toString("utf8") ?? "{}";
  const { imports, ...settings } = parseJson(text, "deno.json");
  const tools = Object.entries(workspace.devDependencies).filter(([name]) => profileOf("deno").tools.test(name));
  const linked = [...allOf(used)].filter(([, { tarball }]) => tarball !== undefined).map(([name]) => name);
  const own = [...used.dependencies, ...used.devDependencies].map(
    ([name, { tarball, version, specifier }]) => [name, `npm:${name}@${tarball ? version : specifier}`] as const,
  );
  return toJson({
    ...settings,
    ...(linked.length > 0 && { links: linked.toSorted().map((name) => `./${linkedFolder(name)}`) }),
    imports: sortKeys({
      ...textsOf(imports),
      ...Object.fromEntries(tools.map(([name, version]) => [name, `npm:${name}@${version}`])),
      ...Object.fromEntries(own),
    }),
    // The base of a later upgrade.
    "create-tsgi": {
      version: options.generatorVersion,
      name: options.answers.name,
      ...keptAnswersOf(options.answers),
    },
  });
}
