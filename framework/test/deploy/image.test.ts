/** The Dockerfiles of projects and of the sample application: Buildah builds and runs them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";

import type { LimitedProgram } from "../support/limited-program.js";
import { IS_SLOW } from "../support/on-demand.js";
import { FRAMEWORK } from "../support/packages.js";
import { findImageFault, Images } from "./_image.js";
import { CREATE } from "./_project.js";

// Minutes, most of them for the packages.
jest.setTimeout(1_200_000);

const fault = IS_SLOW ? findImageFault() : "only with TSGI_SLOW=1";

/** Sends SIGTERM to the process of the container that runs Node, as an orchestrator does. Returns the exit code. */
async function terminate(program: LimitedProgram): Promise<number | null> {
  const isNode = (id: string) => /^(?:\/usr\/bin\/)?node\0/.test(readFileSync(`/proc/${id}/cmdline`, "utf8"));
  const ids = program.members().filter(isNode);
  expect(ids.length).toBeGreaterThan(0);
  for (const id of ids) process.kill(Number(id), "SIGTERM");
  return program.ended;
}

(fault === null ? describe : describe.skip)(`an image${fault === null ? "" : ` (${fault})`}`, () => {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "tsgi-image-")));
  const images = new Images(home);

  beforeAll(() => images.createBase());

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it("of a project serves as the user node, is healthy, and ends on SIGTERM", async () => {
    execFileSync(process.execPath, [CREATE, "my-app", "--template", "minimal", "--yes", "--no-git"], {
      cwd: home,
      stdio: "ignore",
    });
    images.build("my-app", path.join(home, "my-app"));
    const { User, Env, Cmd, Healthcheck } = images.configOf("my-app");
    expect([User, Env]).toEqual(["node", expect.arrayContaining(["NODE_ENV=production"])]);
    const container = images.createContainer("my-app");
    const script = "console.log(process.getuid(), require('node:fs').readdirSync('.').sort().join())";
    expect(images.run(container, ["node", "-e", script])).toBe("1000 dist,node_modules,package.json\n");

    // The container has the network of this machine, where its port may be in use.
    const withPort = (words: readonly string[], port: string) => words.map((word) => word.replace("8000", port));
    await using program = images.start(container, withPort(Cmd, "0"));
    const port = await program.said(/Listening on http:\S+:(\d+)/);
    const response = await fetch(`http://127.0.0.1:${port}/items/42?version=3`);
    expect(await response.json()).toEqual({ item_id: 42, version: 3 });
    expect(images.run(container, withPort(Healthcheck.Test.slice(1), port))).toBe("");
    expect(await terminate(program)).toBe(0);
  });

  it("of the sample application serves, is ready, and ends on SIGTERM", async () => {
    images.build("sample", path.join(FRAMEWORK, ".."), "sample-auth-app/Dockerfile");
    const { User, Cmd, Healthcheck } = images.configOf("sample");
    expect(User).toBe("node");
    const container = images.createContainer("sample");
    const env = { PORT: "0", SECRET_KEY: "k".repeat(64) };
    await using program = images.start(container, Cmd, env);
    const port = await program.said(/http:\/\/\S+?:(\d+)/);
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200);
    const check = Healthcheck.Test.slice(1).map((word) => word.replace("process.env.PORT", port));
    expect(images.run(container, check)).toBe("");
    expect(await terminate(program)).toBe(0);
  });
});
