/** The tests with a database on Node.js 22, for a machine with an older one. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { binaryOf } from "../../test/runtimes/_program.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { isNewEnough } from "./_database.js";

const slow = IS_SLOW && !isNewEnough ? it : it.skip;

const ROOT = path.resolve(import.meta.dirname, "../../..");

slow(
  "passes the tests with a database on Node.js 22",
  async () => {
    const args = [
      "--experimental-vm-modules",
      "node_modules/jest/bin/jest.js",
      "--selectProjects",
      "jobs",
      "webhooks",
      "-w",
      "1",
    ];
    const { stderr } = await promisify(execFile)(binaryOf("node22"), args, { cwd: ROOT });
    expect(stderr).toContain("PASS jobs framework/jobs/test/postgresql.test.ts");
    expect(stderr).toContain("PASS jobs framework/jobs/test/commands.test.ts");
    expect(stderr).toContain("PASS webhooks framework/webhooks/test/postgresql.test.ts");
  },
  600_000,
);
