import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import { Project, type RunningCommand } from "./_project.js";

const APP = `import { App } from "tsgi";
export const app = new App();
app.get("/items/{id}", async ({ id }) => id);
app.get("/failing", async () => { throw new Error("broken"); });
`;

/** Starts `tsgi dev` and waits until it serves. */
async function start(project: Project, ...flags: string[]): Promise<{ command: RunningCommand; url: string }> {
  const command = project.start(["dev", "--port", "0", ...flags]);
  const [, url = ""] = await command.next(/Listening on (http:\S+)/);
  await command.next(/Ready in \d+ ms/);
  return { command, url };
}

/** Ends the command, and returns the lines of its standard output. */
async function linesOf({ child, ended }: RunningCommand): Promise<string[]> {
  child.kill("SIGTERM");
  return (await ended).stdout.split("\n").slice(0, -1);
}

describe("the access log of tsgi dev", () => {
  it("logs each request with method, path, status and duration, except requests of the inspector", async () => {
    await using project = await Project.create({ "app.js": APP });
    const { command, url } = await start(project);
    for (const path of ["/items/1?token=secret", "/failing", "/nowhere", "/__tsgi"]) {
      await (await fetch(url + path)).text();
    }
    expect(await linesOf(command)).toEqual([
      expect.stringMatching(/^[\d:.]{12} GET \/items\/1 200 [\d.]+ ms/),
      expect.stringMatching(/^[\d:.]{12} GET \/failing 500 [\d.]+ ms/),
      expect.stringMatching(/^[\d:.]{12} GET \/nowhere 404 [\d.]+ ms/),
    ]);
  });

  it("escapes the control characters of a path", async () => {
    await using project = await Project.create({ "app.js": APP });
    const { command, url } = await start(project);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.end("GET /items/%1b%5b2J%0aforged%c2%9b HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    await text(socket);
    const [line, ...others] = await linesOf(command);
    expect(line).toContain("GET /items/\\u001b[2J\\nforged\\u009b 200");
    expect(others).toEqual([]);
  });

  it.each([
    ["of its own", `instrumentation: accessLog()`, ""],
    ["in a mounted App", "", `app.mount("/inner", new App({ instrumentation: accessLog() }));`],
  ])("has one line for a request if the application has an accessLog %s", async (_, option, further) => {
    const source = `import { App } from "tsgi"; import { accessLog } from "tsgi/middleware";
      export const app = new App({ ${option} }); ${further}`;
    await using project = await Project.create({ "app.js": source });
    const { command, url } = await start(project);
    await fetch(`${url}/inner/nowhere`);
    expect(await linesOf(command)).toEqual([expect.stringMatching(/GET \/inner\/nowhere 404/)]);
  });

  it("is off with --no-access-log", async () => {
    await using project = await Project.create({ "app.js": APP });
    const { command, url } = await start(project, "--no-access-log");
    await fetch(`${url}/items/1`);
    expect(await linesOf(command)).toEqual([]);
  });
});
