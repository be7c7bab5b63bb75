import { importPath, type ExistingProject } from "../code/existing-project.js";
import { SourceFile } from "../code/source-file.js";
import { CommandError } from "../errors.js";
import { readName } from "./names.js";
import { endOfPaths } from "./place.js";
import type { Change, SubGenerator } from "./sub-generator.js";
import { socketTest } from "./test-file.js";

const path = "src/middleware.ts";

/** Adds a middleware to the App as the outermost one, with a test. */
export const middleware: SubGenerator = {
  usage: "middleware <name>",
  help: `a middleware in ${path}, added to the app as the outermost, and its test`,
  example: "middleware timing",
  parameters: [1, 1],
  plan(project, { parameters: [word = ""] }) {
    const { kebab, camel } = readName(word, "middleware");
    const { module, registrar } = project.app;
    const from = importPath(module.path, path);
    const file = new SourceFile(path, project.has(path) ? project.read(path) : "");
    if (file.declares(camel)) {
      return { changes: [], notes: [`${camel} is in ${path} already.`] };
    }
    if (module.file.declares(camel)) {
      throw new CommandError(`${module.path} already declares ${camel}: choose another name`);
    }
    const httpMiddleware = file.importName("tsgi/middleware", "httpMiddleware");
    file.append(`/** Adds the header \`X-${kebab}\` with the duration in milliseconds to each response. */
export const ${camel} = ${httpMiddleware}(async (_request, next) => {
  const start = performance.now();
  const response = await next();
  response.headers.set("x-${kebab}", (performance.now() - start).toFixed(1));
});
`);
    const name = module.file.importName(from, camel);
    const last = registrar.registrations.findLast(({ method }) => method === "addMiddleware");
    module.file.insertAfter(
      last?.statement ?? endOfPaths(registrar),
      `${registrar.variable}.addMiddleware(${name});`,
      last ? "line" : "paragraph",
    );
    const changes = [
      { path, text: `${file.toString().trim()}\n`, isNew: false },
      { path: module.path, text: module.file.toString(), isNew: false },
      middlewareTest(project, kebab),
    ];
    return { changes, notes: [] };
  },
};

function middlewareTest(project: ExistingProject, kebab: string): Change {
  return socketTest(project, {
    folder: "test",
    name: `${kebab}-middleware`,
    title: `adds X-${kebab} to each response`,
    statements: (client) => [`await ${client}.get("/openapi.json").expect("X-${kebab}", /^\\d+\\.\\d$/);`],
  });
}
