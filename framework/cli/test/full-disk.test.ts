/** Commands whose output, or whose file, is on a full disk. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { Project } from "./_project.js";

const APP = `import { App } from "tsgi";
import { Jobs } from "@tsgi/jobs";
export const jobs = new Jobs({ inline: true });
export const app = new App();
app.get("/", async () => null);`;

/** A device of Linux that fails as a full disk does. */
const describeWithDevice = existsSync("/dev/full") ? describe : describe.skip;

const UNWRITABLE = /^The standard output cannot be written, and is not complete: Error: ENOSPC: .*\n/;

describeWithDevice("a full disk", () => {
  it.each([
    "openapi",
    "openapi --async",
    "openapi --check old.json",
    "routes",
    "routes --json",
    "doctor",
    "jobs schedules",
    "jobs events",
    "explain",
    "explain TSGI_DUPLICATE_ROUTE",
    "completion bash",
    "--help",
    "openapi --help",
    "--version",
  ])("makes tsgi %s exit with 1 and the reason if its output is on it", async (line) => {
    await using project = await Project.create({ "app.js": APP, "old.json": '{ "openapi": "3.1.0", "paths": {} }' });
    const { code, stderr } = await project.runTo("/dev/full", ...line.split(" "));
    expect(stderr).toMatch(UNWRITABLE);
    expect(code).toBe(1);
  });

  it.each(["routes", "--help"])(
    "makes tsgi %s exit with 1 and no stack frames if its output is on it",
    async (line) => {
      await using project = await Project.create({ "app.js": APP });
      const { code, stderr } = await project.runBy('exec "$@" > /dev/full', line);
      expect(stderr).toMatch(UNWRITABLE);
      expect(stderr).not.toContain("    at ");
      expect(code).toBe(1);
    },
  );

  it.each(["openapi --out /dev/full", "openapi --async --out /dev/full", "client --out /dev/full"])(
    "makes tsgi %s exit with 1, the file and the reason",
    async (line) => {
      await using project = await Project.create({ "app.js": APP });
      const { code, stderr } = await project.spawn(...line.split(" "));
      expect(stderr).toMatch(/^\/dev\/full cannot be written: Error: ENOSPC: .*\nRead more: .*TSGI_UNWRITABLE_FILE\n$/);
      expect(code).toBe(1);
    },
  );

  it("does not change the exit code of a command whose message is lost on it", async () => {
    await using project = await Project.create({});
    const codes = [["routes"], ["--no-such-flag"]].map(
      async (line) => (await project.runBy('exec "$@" 2> /dev/full', ...line)).code,
    );
    expect(await Promise.all(codes)).toEqual([1, 2]);
  });
});

it("a command exits with 1 if its output has space for only a part of the text", async () => {
  await using project = await Project.create({});
  const { code, stderr } = await project.runBy('ulimit -f 1; exec "$@" > script', "completion", "bash");
  expect(stderr).toMatch(/^The standard output cannot be written, and is not complete: Error: EFBIG: /);
  expect(code).toBe(1);
});
