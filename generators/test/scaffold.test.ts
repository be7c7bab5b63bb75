import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { run, shellEnvironment, spawnTsgi, temporaryFolder } from "./support.js";

/** Three minutes on two cores, most of it npm's; `make test-all` sets the variable. */
const slowly = process.env["TSGI_SLOW"] ? describe : describe.skip;

/** Waits until a running command has shown a text; rejects when it ends before, or takes more than a minute. */
function waitForText(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let shown = "";
    const fail = () => {
      clearTimeout(timer);
      reject(new Error(`never shown: ${pattern.source}\n${shown}`));
    };
    const timer = setTimeout(fail, 60_000);
    child.once("close", fail);
    child.stdout?.on("data", (chunk: Buffer) => {
      shown += chunk.toString("utf8");
      const match = pattern.exec(shown);
      if (match) {
        clearTimeout(timer);
        resolve(match);
      }
    });
  });
}

slowly("a scaffolded project (only with TSGI_SLOW=1)", () => {
  it("installs, type-checks, passes its tests and serves, even after it was moved", async () => {
    await using folder = await temporaryFolder();
    const made = await spawnTsgi(["my-app", "--yes"], { cwd: folder.path });
    expect({ status: made.status, stderr: made.stderr }).toEqual({ status: 0, stderr: "" });

    const routes = await run("npx", ["tsgi", "routes"], { cwd: join(folder.path, "my-app") });
    expect(routes).toMatchObject({ status: 0, stdout: expect.stringMatching(/^POST +\/auth\/token /m) });

    const project = join(folder.path, "moved/to");
    await run("mkdir", [join(folder.path, "moved")], { cwd: folder.path });
    await rename(join(folder.path, "my-app"), project);

    const tests = await run("npm", ["test"], { cwd: project });
    expect(tests).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^Tests: +(?:\d+ skipped, )?\d+ passed, \d+ total$/m),
    });
    const types = await run("npx", ["tsc", "-b", "test"], { cwd: project });
    expect(types).toMatchObject({ status: 0, stdout: "" });

    // A separate process group, which gets the signal as a whole, as in a terminal.
    const server = spawn("npm", ["start"], {
      cwd: project,
      env: { ...shellEnvironment, PORT: "0" },
      detached: true,
    });
    const ended = once(server, "close");
    try {
      let warnings = "";
      server.stderr.setEncoding("utf8").on("data", (text: string) => (warnings += text));
      const [, url] = await waitForText(server, /(http:\/\/127\.0\.0\.1:\d+)[^]*Try: curl/);
      expect(warnings).not.toContain("SECRET_KEY");
      const form = new URLSearchParams({ username: "demo", password: "demo-password" });
      const login = await fetch(`${url}/auth/token`, { method: "POST", body: form });
      const { access_token: token } = (await login.json()) as { access_token: string };
      const me = await fetch(`${url}/users/me`, { headers: { authorization: `Bearer ${token}` } });
      expect([login.status, me.status, await me.json()]).toEqual([
        200,
        200,
        expect.objectContaining({ username: "demo" }),
      ]);
    } finally {
      process.kill(-(server.pid ?? 0), "SIGINT");
      await ended;
    }
  }, 600_000);
});
