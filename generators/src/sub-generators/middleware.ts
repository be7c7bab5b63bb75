import { importPath } from "../code/existing-project.js";
import { CommandError } from "../errors.js";
import { readName } from "./names.js";
import { endOfPaths } from "./place.js";
import type { SubGenerator } from "./sub-generator.js";
import { applicationTest } from "./test-file.js";

/** Writes a middleware, adds it to the App as the outermost, and tests it. */
export const middleware: SubGenerator = {
  usage: "middleware <name>",
  help: "a middleware, added to the app as the outermost, and its test",
  example: "middleware timing",
  parameters: [1, 1],
  plan(project, { parameters: [word = ""] }) {
    const { kebab, camel } = readName(word, "middleware");
    const path = `src/middleware/${kebab}.ts`;
    const text = `import { httpMiddleware } from "tsgi/middleware";

/** Says in the header \`X-${kebab}\` of each answer how many milliseconds it took. */
export const ${camel} = httpMiddleware(async (_request, next) => {
  const start = performance.now();
  const response = await next();
  response.headers.set("x-${kebab}", (performance.now() - start).toFixed(1));
});
`;
    const { module, registrar } = project.app;
    const { file } = module;
    const from = importPath(module.path, path);
    const test = applicationTest(project, {
      name: `${kebab}-middleware`,
      title: `has X-${kebab} in each answer`,
      statements: (client) => [`await ${client}.get("/openapi.json").expect("X-${kebab}", /^\\d+\\.\\d$/);`],
    });
    const created = { path, text, isNew: true };
    if (file.imports.some(({ source }) => source.value === from)) {
      return { changes: [created, test], notes: [`${module.path} has ${camel} already.`] };
    }
    if (file.declares(camel)) {
      throw new CommandError(`${module.path} has something called ${camel} already: choose another name`);
    }
    const name = file.importName(from, camel);
    const last = registrar.registrations.findLast(({ method }) => method === "addMiddleware");
    file.insertAfter(
      last?.statement ?? endOfPaths(registrar),
      `${registrar.variable}.addMiddleware(${name});`,
      last ? "line" : "paragraph",
    );
    return { changes: [created, { path: module.path, text: file.toString(), isNew: false }, test], notes: [] };
  },
};
