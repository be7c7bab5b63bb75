import { execFileSync } from "node:child_process";
import { describe, expect, it } from "@jest/globals";
import { Project } from "./_project.js";

/** The words that bash suggests; the last one is incomplete. */
function complete(script: string, ...words: string[]): string[] {
  const line = `${script}
    COMP_WORDS=(tsgi ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}
    _tsgi; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", line], { encoding: "utf8" }).trim().split("\n");
}

describe("tsgi completion bash", () => {
  it("completes commands, flags of a command, codes, and files", async () => {
    await using project = await Project.create({});
    const { stdout } = await project.run("completion", "bash");
    expect(complete(stdout, "ro")).toEqual(["routes"]);
    expect(complete(stdout, "run", "--p")).toEqual(["--port"]);
    expect(complete(stdout, "run", "--tr")).toEqual(["--trusted-proxies"]);
    expect(complete(stdout, "run", "/etc/host")).toContain("/etc/hostname");
    expect(complete(stdout, "explain", "TSGI_DUPLICATE_R")).toEqual(["TSGI_DUPLICATE_ROUTE"]);
    expect(complete(stdout, "completion", "z")).toEqual(["zsh"]);
  });
});

describe.each(["zsh", "fish"])("tsgi completion %s", (shell) => {
  it("lists each command with its summary", async () => {
    await using project = await Project.create({});
    const { stdout } = await project.run("completion", shell);
    for (const name of ["dev", "run", "routes", "openapi", "doctor"])
      expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    expect(stdout).toContain("restart when a file changes");
    expect(stdout).toMatch(/explain.*TSGI_DUPLICATE_ROUTE TSGI_/);
  });
});
