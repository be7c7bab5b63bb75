import { importPath, type ExistingProject, type TestOpening } from "../code/existing-project.js";
import { isRecord } from "../json.js";
import type { Change } from "./sub-generator.js";

/** A test of the project's application. */
interface ApplicationTest {
  /** The name of the file, without `.test.ts`. */
  name: string;
  /** Its folder. Defaults to the folder of the tests of routes. */
  folder?: string;
  title: string;
}

/** A test by `TestClient`. */
interface SocketTest extends ApplicationTest {
  /** The statements, given the names of the client and of the function that opens a WebSocket. */
  statements: (client: string, websocket: string) => readonly string[];
}

/** A request to a route, and its response. */
export interface RouteCall {
  method: string;
  /** The pattern: `/orders/{id}`. */
  path: string;
  /** The values of its parameters. */
  names: Readonly<Record<string, string | number>>;
  body?: unknown;
  status: number;
  answer?: unknown;
}

interface RouteTest extends ApplicationTest {
  /** The module that exports the routes, for a typed client, or `null`. */
  module: string | null;
  /** True if the routes require a login. */
  isGuarded?: boolean;
  calls: readonly RouteCall[];
}

/** The folder of the tests of routes. */
export function routeTestPath(project: ExistingProject, name: string): string {
  return `${project.has("test/routes") ? "test/routes" : "test"}/${name}.test.ts`;
}

/** A test whose client has the types of the routes, where the project has that client and can import the application. */
export function routeTest(project: ExistingProject, test: RouteTest): Change {
  const { module, isGuarded = false, calls } = test;
  const opening = project.testOpening;
  if (module !== null && opening.kind !== "factory" && project.hasTypedClient) {
    return typedTest(project, { ...test, module }, opening);
  }
  const statements = (client: string) => [
    ...(isGuarded ? ["await app.register();", "const { token } = await app.login();"] : []),
    ...calls.flatMap((call) => [
      ...(isGuarded ? [`${renderRequest(call, client)}.expect(401);`] : []),
      renderExpectation(call, `${renderRequest(call, client)}${isGuarded ? '.auth(token, { type: "bearer" })' : ""}`),
    ]),
  ];
  return socketTest(project, { ...test, statements });
}

function typedTest(project: ExistingProject, test: RouteTest & { module: string }, opening: TestOpening): Change {
  const path = pathOf(project, test);
  const { isGuarded = false, calls } = test;
  const isHelper = opening.kind === "helper";
  const connection = isHelper ? "baseUrl: app.url" : `fetch: ${opening.name}.fetch`;
  const statements = [
    ...(isHelper ? ["await using app = await openApp();"] : []),
    `const client = createClient<ApiOf<typeof routes>>({ ${connection} });`,
    ...(isGuarded
      ? [
          "await app.register();",
          "const { token } = await app.login();",
          "const headers = { authorization: `Bearer ${token}` };",
        ]
      : []),
    ...calls.flatMap((call) => [
      ...(isGuarded ? [renderTypedCall({ ...call, status: 401, answer: undefined })] : []),
      renderTypedCall(call, isGuarded ? ["headers"] : []),
    ]),
    ...(isHelper ? [] : [`await ${opening.name}.fetch.close();`]),
  ];
  const lines = [
    importOf(project, ["expect", "it"]),
    'import { type ApiOf, createClient } from "@tsgi/client";',
    "",
    `import { ${opening.name} } from "${importPath(path, opening.path)}";`,
    `import type * as routes from "${importPath(path, test.module)}";`,
    "",
    `it(${JSON.stringify(test.title)}, async () => {`,
    ...statements.map((statement) => `  ${statement}`),
    "});",
  ];
  return { path, text: `${lines.join("\n")}\n`, isNew: true };
}

/** @param shared names of variables that are options of the call */
function renderTypedCall({ method, path, names, body, status, answer }: RouteCall, shared: string[] = []): string {
  const options = [
    ...(Object.keys(names).length > 0 ? [`params: ${literal({ path: names })}`] : []),
    ...(body === undefined ? [] : [`body: ${literal(body)}`]),
    ...shared,
  ];
  const init = options.length > 0 ? `, { ${options.join(", ")} }` : "";
  const expected = { ...(answer !== undefined && { data: answer }), response: { status } };
  return `expect(await client.${method}(${literal(path)}${init})).toMatchObject(${literal(expected)});`;
}

/** A request of supertest's. */
function renderRequest({ method, path, names, body }: RouteCall, client: string): string {
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(names[name]));
  const sent = body === undefined ? "" : `.send(${literal(body)})`;
  return `await ${client}.${method.toLowerCase()}(${literal(target)})${sent}`;
}

function renderExpectation({ status, answer }: RouteCall, request: string): string {
  return `${request}.expect(${status}${answer === undefined ? "" : `, ${literal(answer)}`});`;
}

/** The source text of a value, with the names of its members as they are. */
function literal(value: unknown): string {
  return isRecord(value)
    ? `{ ${Object.entries(value)
        .map(([name, member]) => `${name}: ${literal(member)}`)
        .join(", ")} }`
    : JSON.stringify(value);
}

/** A test that opens the application on a port, like the project's other tests of this kind. */
export function socketTest(project: ExistingProject, test: SocketTest): Change {
  const path = pathOf(project, test);
  const opening = project.testOpening;
  const isHelper = opening.kind === "helper";
  const statements = isHelper
    ? test.statements("app.request", "app.websocket")
    : test.statements("client", "client.websocket");
  const lines = [
    importOf(project, ["it"]),
    ...(isHelper ? [] : ["", 'import { TestClient } from "tsgi/testing";']),
    "",
    `import { ${opening.name} } from "${importPath(path, opening.path)}";`,
    "",
    `it(${JSON.stringify(test.title)}, async () => {`,
    isHelper
      ? "  await using app = await openApp();"
      : `  await using client = await TestClient.open(${opening.kind === "factory" ? "createApp()" : opening.name});`,
    ...statements.map((statement) => `  ${statement}`),
    "});",
  ];
  return { path, text: `${lines.join("\n")}\n`, isNew: true };
}

function pathOf(project: ExistingProject, { folder, name }: ApplicationTest): string {
  return folder === undefined ? routeTestPath(project, name) : `${folder}/${name}.test.ts`;
}

/** The line that imports names of the test runner. */
export function importOf(project: ExistingProject, names: readonly string[]): string {
  return `import { ${names.join(", ")} } from "${project.usesJest ? "@jest/globals" : "node:test"}";`;
}
