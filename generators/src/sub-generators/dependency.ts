import { SourceFile } from "../code/source-file.js";
import type { ExistingProject } from "../code/existing-project.js";
import { readName } from "./names.js";
import type { Change, SubGenerator } from "./sub-generator.js";
import { importOf } from "./test-file.js";

const path = "src/dependencies.ts";

/** Adds a dependency with a test. */
export const dependency: SubGenerator = {
  usage: "dependency <name>",
  help: `a dependency in ${path}, and its test`,
  example: "dependency tenant",
  parameters: [1, 1],
  plan(project, { parameters: [word = ""] }) {
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
    const test = renderTest(project, { ...name, getter });
    return { changes: [{ path, text: `${file.toString().trim()}\n`, isNew: false }, test], notes: [] };
  },
};

/** `current-tenant` as `Current-Tenant`. */
function headerOf(kebab: string): string {
  return kebab.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

function renderTest(project: ExistingProject, { kebab, camel, getter }: Record<"kebab" | "camel" | "getter", string>) {
  const test: Change = {
    path: `test/${kebab}-dependency.test.ts`,
    text: `import assert from "node:assert/strict";
${importOf(project, ["it"])}

import { App, Depends } from "tsgi";

import { ${getter} } from "../src/dependencies.js";

it("passes the header to the handler", async () => {
  const app = new App();
  app.get(
    "/",
    {
      params: { ${camel}: Depends(${getter}) },
    },
    async ({ ${camel} }) => ({ ${camel} }),
  );
  const ask = async (headers: Record<string, string>) =>
    (await app.fetch(new Request("http://localhost/", { headers }))).text();
  assert.equal(await ask({ "X-${headerOf(kebab)}": "example" }), '{"${camel}":"example"}');
  assert.equal(await ask({}), '{"${camel}":null}');
});
`,
    isNew: true,
  };
  return test;
}
