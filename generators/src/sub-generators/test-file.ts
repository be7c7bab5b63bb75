import { importPath, type ExistingProject } from "../code/existing-project.js";
import type { Change } from "./sub-generator.js";

/** A test of the project's application. */
export interface ApplicationTest {
  /** The name of the file, without `.test.ts`. */
  name: string;
  /** Its folder. Defaults to that of the tests of routes. */
  folder?: string;
  title: string;
  /** True if the routes require a login. The statements may then use `token`. */
  isGuarded?: boolean;
  /** The statements, given the names of the client and of the function that opens a WebSocket. */
  statements: (client: string, websocket: string) => readonly string[];
}

/** The folder of the tests of routes. */
export function routeTestPath(project: ExistingProject, name: string): string {
  return `${project.has("test/routes") ? "test/routes" : "test"}/${name}.test.ts`;
}

/** A test that opens the application like the project's other tests. */
export function applicationTest(
  project: ExistingProject,
  { name, folder, title, isGuarded = false, statements }: ApplicationTest,
): Change {
  const path = folder === undefined ? routeTestPath(project, name) : `${folder}/${name}.test.ts`;
  const opening = project.testOpening;
  const isHelper = opening.kind === "helper";
  const lines = [
    importIt(project),
    ...(isHelper ? [] : ["", 'import { TestClient } from "tsgi/testing";']),
    "",
    `import { ${opening.name} } from "${importPath(path, opening.path)}";`,
    "",
    `it(${JSON.stringify(title)}, async () => {`,
    isHelper
      ? "  await using app = await openApp();"
      : `  await using client = await TestClient.open(${opening.kind === "factory" ? "createApp()" : opening.name});`,
    ...(isGuarded ? ["  await app.register();", "  const { token } = await app.login();"] : []),
    ...(isHelper ? statements("app.request", "app.websocket") : statements("client", "client.websocket")).map(
      (statement) => `  ${statement}`,
    ),
    "});",
  ];
  return { path, text: `${lines.join("\n")}\n`, isNew: true };
}

/** The line that imports `it`. */
export function importIt(project: ExistingProject): string {
  return `import { it } from "${project.usesJest ? "@jest/globals" : "node:test"}";`;
}
