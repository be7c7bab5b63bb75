import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { repositoryRoot, run, temporaryFolder } from "./support.js";

/** A call of npm takes a second of processor time. */
const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

/** The npm on the path, and the other one that people have; npx fetches it, so it is left to the slow tests. */
const npms = [
  { name: "npm", command: ["npm"] },
  ...(process.env["TSGI_SLOW"] ? [{ name: "npm 10", command: ["npx", "--yes", "npm@10"] }] : []),
];

describe.each(npms)("$name create tsgi in the repository", ({ command: [program = "npm", ...first] }) => {
  const create = (...parameters: string[]) =>
    run(program, [...first, "create", "tsgi", ...parameters], { cwd: repositoryRoot });

  it("runs the workspace's own generator, with the flags after --", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await create("my-app", "--", "--into", folder.path, "--no-install", "--no-git", "--yes");
    expect(status).toBe(0);
    expect(stdout).toContain(`cd ${folder.path}/my-app`);
    expect(existsSync(join(folder.path, "my-app/vendor"))).toBe(true);
  });

  slowly("writes outside the repository, whose tools would affect a project inside", async () => {
    const { status, stdout } = await create("not-in-the-clone", "--", "--dry-run", "--yes");
    expect(status).toBe(0);
    expect(stdout).toContain(`${join(dirname(repositoryRoot), "not-in-the-clone")} (dry run, no files are written):`);
  });

  // A flag, one that is false, and one with a value; the others are in arguments.test.ts.
  describe.each([
    ["--dry-run", it],
    ["--no-install", slowly],
    ["--template=api", slowly],
  ] as const)("%s without the --, which npm would keep for itself", (flag, check) => {
    check("is rejected", async () => {
      const { status, stderr } = await create("my-app", flag);
      expect(status).toBe(2);
      expect(stderr).toContain("npm create tsgi my-app -- ");
      expect(existsSync(join(repositoryRoot, "my-app"))).toBe(false);
    });
  });
});
