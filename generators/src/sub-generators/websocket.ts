import { CommandError } from "../errors.js";
import { guardOf } from "../code/registrars.js";
import { readPathNames, slugOf } from "./names.js";
import { endOfPaths, findPlace, findRoute } from "./place.js";
import type { SubGenerator } from "./sub-generator.js";
import { socketTest } from "./test-file.js";

/** Adds a WebSocket route that echoes messages, with a test. */
export const websocket: SubGenerator = {
  usage: "websocket <path>",
  help: "a WebSocket route and its test, in the router whose prefix matches, else in the app",
  example: 'websocket "/rooms/{room}"',
  parameters: [1, 1],
  plan(project, { parameters: [path = ""], file }) {
    if (project.runtime === "workers") {
      throw new CommandError("app.fetch, by which Workers call the application, opens no WebSockets");
    }
    const names = readPathNames(path);
    const existing = findRoute(project, "websocket", path);
    if (existing !== null) {
      return { changes: [], notes: [`A WebSocket on ${path} is in ${existing} already.`] };
    }
    const place = findPlace(project, path, file);
    const { file: source, path: sourcePath } = place.module;
    const guard = guardOf(place.registrar);
    const isGuarded = guard !== null && project.testOpening.kind === "helper";
    const [name] = names;
    // Attack: the routes of a router require a login, each by itself, and the new one would be open.
    const account = names.includes("account") ? "currentAccount" : "account";
    const own =
      guard?.isShared === false ? (guard.variable ?? `${source.importName("tsgi", "Depends")}(${guard.name})`) : null;
    const options = own === null ? "" : `{ params: { ${account}: ${own} } }, `;
    const text = `${place.registrar.variable}.websocket(${JSON.stringify(place.path)}, ${options}async ({ ${["ws", ...names.slice(0, 1)].join(", ")} }) => {
  await ws.accept();
  for await (const message of ws) {
    await ws.sendJson({ ${name === undefined ? "" : `${name}, `}message: String(message) });
  }
});`;
    source.insertAfter(endOfPaths(place.registrar), text, "paragraph");
    const test = socketTest(project, {
      name: `websocket-${slugOf(path)}`,
      title: `echoes messages on ${path}${isGuarded ? ", to those who are logged in" : ""}`,
      statements: (_client, open) => testStatements(path, { open, isGuarded, name }),
    });
    const withAssert = `import assert from "node:assert/strict";\n${test.text}`;
    return {
      changes: [
        { path: sourcePath, text: source.toString(), isNew: false },
        { ...test, text: withAssert },
      ],
      notes: [],
    };
  },
};

/** @param name - The parameter of the path that each response contains. */
function testStatements(
  path: string,
  { open, isGuarded, name }: { readonly open: string; readonly isGuarded: boolean; readonly name: string | undefined },
): string[] {
  const target = JSON.stringify(path.replaceAll(/\{\w+\}/g, "example"));
  const answer = `{ ${name === undefined ? "" : `${name}: "example", `}message: "hello" }`;
  return [
    ...(isGuarded
      ? [
          `await assert.rejects(${open}(${target}), { statusCode: 401 });`,
          "await app.register();",
          "const { token } = await app.login();",
          "const headers = { authorization: `Bearer ${token}` };",
        ]
      : []),
    `await using ws = await ${open}(${target}${isGuarded ? ", { headers }" : ""});`,
    'await ws.sendText("hello");',
    `assert.deepEqual(await ws.receiveJson(), ${answer});`,
  ];
}
