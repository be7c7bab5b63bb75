import { keptAnswersOf, type ProjectOptions } from "./answers.js";
import { parseJson, sortKeys, textsOf, toJson } from "./json.js";
import { profileOf } from "./runtimes.js";
import type { Template } from "./template.js";

/** The folder of the framework in a project that carries it along: Deno links folders, no tarballs. */
export const linkedFramework = "vendor/tsgi";

/** Completes the deno.json of the overlay: the framework, the version of an included one, and the record of an upgrade. */
export function renderDenoJson(text: string, { framework, workspace }: Template, options: ProjectOptions): string {
  const { imports, ...settings } = parseJson(text, "deno.json");
  const tools = Object.entries(workspace.devDependencies).filter(([name]) => profileOf("deno").tools.test(name));
  const [, included] = /-(\d+\.\d+\.\d+[\w.+-]*)\.tgz$/.exec(framework.tarball?.path ?? "") ?? [];
  return toJson({
    ...settings,
    ...(framework.tarball && { links: [`./${linkedFramework}`] }),
    imports: sortKeys({
      ...textsOf(imports),
      ...Object.fromEntries(tools.map(([name, version]) => [name, `npm:${name}@${version}`])),
      tsgi: `npm:tsgi@${included ?? framework.specifier}`,
    }),
    // The base of a later upgrade.
    "create-tsgi": {
      version: options.generatorVersion,
      name: options.answers.name,
      ...keptAnswersOf(options.answers),
    },
  });
}
