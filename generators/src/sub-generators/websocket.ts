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
    // The current user depends on a request, which a WebSocket route does not have.
    const place = findPlace(project, path, file, (registrar) => guardOf(registrar)?.isShared !== true);
    const { file: source, path: sourcePath } = place.module;
    const [name] = names;
    const text = `${place.registrar.variable}.websocket(${JSON.stringify(place.path)}, async ({ ${["ws", ...names.slice(0, 1)].join(", ")} }) => {
  await ws.accept();
  for await (const message of ws) {
    await ws.sendJson({ ${name === undefined ? "" : `${name}, `}message: String(message) });
  }
});`;
    source.insertAfter(endOfPaths(place.registrar), text, "paragraph");
    const test = socketTest(project, {
      name: `websocket-${slugOf(path)}`,
      title: `echoes messages on ${path}`,
      statements: (_client, open) => {
        const target = path.replaceAll(/\{\w+\}/g, "example");
        const answer = `{ ${name === undefined ? "" : `${name}: "example", `}message: "hello" }`;
        return [
          `await using ws = await ${open}(${JSON.stringify(target)});`,
          'await ws.sendText("hello");',
          `assert.deepEqual(await ws.receiveJson(), ${answer});`,
        ];
      },
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
