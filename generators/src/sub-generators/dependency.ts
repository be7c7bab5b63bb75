import { SourceFile } from "../code/source-file.js";
import { readName } from "./names.js";
import type { SubGenerator } from "./sub-generator.js";
import { importOf } from "./test-file.js";

const path = "src/dependencies.ts";

/** Adds a dependency with a test. */
export const dependency: SubGenerator = {
  usage: "dependency <name>",
  help: `a dependency in ${path}, and its test`,
  example: "dependency tenant",
  parameters: [1, 1],
  plan(project, { parameters: [word = ""], readCode }) {
    const name = readName(word, "dependency");
    const getter = `get${name.pascal}`;
    const file = new SourceFile(path, project.has(path) ? project.read(path) : "");
    if (file.declares(getter)) {
      return { changes: [], notes: [`${getter} is in ${path} already.`] };
    }
    const withParams = file.importName("tsgi", "withParams");
    const header = file.importName("tsgi", "Header");
    file.append(`/** The header \`X-${headerOf(name.kebab)}\` of a request, or \`null\`. */
export const ${getter} = ${withParams}(
  { ${name.camel}: ${header}({ alias: "x-${name.kebab}", default: null }) },
  async ({ ${name.camel} }) => ${name.camel},
);
`);
    const values = { ...name, getter, header: headerOf(name.kebab), runner: importOf(project, ["it"]) };
    const changes = [
      { path, text: `${file.toString().trim()}\n`, isNew: false },
      { path: `test/${name.kebab}-dependency.test.ts`, text: readCode("dependency-test", values), isNew: true },
    ];
    return { changes, notes: [] };
  },
};

/** `current-tenant` as `Current-Tenant`. */
function headerOf(kebab: string): string {
  return kebab.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
