import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { createTsgi } from "./in-process.js";
import { hasProgram, packageRoot, program, run, shellEnvironment, spawnTsgi, temporaryFolder } from "./support.js";

/** Runs the command by a line of a shell, in which it is `"$@"`. */
const runBy = (shell: string, line: string, cwd: string) =>
  run("sh", ["-c", shell, "sh", process.execPath, program, ...line.split(" ")], {
    cwd,
  });

const quick = ["--yes", "--no-install", "--no-git"];
const minimal = [...quick, "--template=minimal"];

describe("create-tsgi", () => {
  it("writes the authentication application into a new folder and prints the next steps", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout, stderr } = await spawnTsgi(["my-app", ...quick], { cwd: folder.path });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(readdirSync(folder.path)).toEqual(["my-app"]);
    const files = readdirSync(join(folder.path, "my-app"), { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining([".env", ".gitignore", "README.md", "package.json", "src/server.ts", "jest.config.js"]),
    );
    expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^vendor\/tsgi-.*\.tgz$/)]));
    expect(stdout).toMatch(/cd my-app\n {2}npm install\n {2}npm start/);
    expect(stdout).toContain("curl ");
  });

  it("creates .env for its owner only, with a new secret each time", async () => {
    await using folder = await temporaryFolder();
    const secrets = await Promise.all(
      ["one", "two"].map(async (name) => {
        await createTsgi([name, ...quick], { cwd: folder.path });
        const env = join(folder.path, name, ".env");
        expect(statSync(env).mode & 0o777).toBe(0o600);
        return /^SECRET_KEY=(.{32,})$/m.exec(await readFile(env, "utf8"))?.[1];
      }),
    );
    expect(secrets[0]).toBeDefined();
    expect(secrets[0]).not.toBe(secrets[1]);
  });

  it("writes into --into, and omits the scope of a scoped project in the folder", async () => {
    await using folder = await temporaryFolder();
    const { status } = await createTsgi(["@acme/api", "--into", "deep/er", ...minimal], { cwd: folder.path });
    expect(status).toBe(0);
    const manifest = JSON.parse(await readFile(join(folder.path, "deep/er/api/package.json"), "utf8"));
    expect(manifest.name).toBe("@acme/api");
  });

  it("writes into the folder that a path names, and into the current folder if it contains only .git", async () => {
    await using folder = await temporaryFolder();
    const shop = join(folder.path, "apps/shop");
    await mkdir(join(shop, ".git"), { recursive: true });
    const results = [
      await createTsgi(["../blog", ...minimal], { cwd: join(folder.path, "apps") }),
      await createTsgi([".", ...minimal], { cwd: shop }),
    ];
    expect(results).toMatchObject([
      { status: 0, stderr: "", stdout: expect.stringContaining(`cd ${join(folder.path, "blog")}\n`) },
      { status: 0, stderr: "", stdout: expect.not.stringContaining("cd ") },
    ]);
    const names = [join(folder.path, "blog"), shop].map(
      async (path) => JSON.parse(await readFile(join(path, "package.json"), "utf8")).name,
    );
    expect(await Promise.all(names)).toEqual(["blog", "shop"]);
    const again = await createTsgi([".", ...minimal], { cwd: shop });
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining("is not empty") });
  });

  it("uses and prints the defaults if it cannot prompt", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await createTsgi(["--no-install"], { cwd: folder.path });
    expect(status).toBe(0);
    expect(stdout).toContain(
      "Using these defaults: name my-app, template auth, database sqlite, deploy none, extras none, docker yes, load tests yes, ci yes, package manager npm, git yes.",
    );
    expect(existsSync(join(folder.path, "my-app/package.json"))).toBe(true);
  });

  it("lists every file in a dry run, and does not write them", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await createTsgi(["my-app", "--dry-run", ...quick], { cwd: folder.path });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}create {4}package\.json$/m);
    expect(stdout).toMatch(/^ {2}create {4}src\/server\.ts$/m);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("ignores the files of the parent folder", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "package.json"), "{ this is no JSON");
    await writeFile(join(folder.path, ".yo-rc.json"), "{ nor is this");
    const { status, stderr } = await createTsgi(["my-app", ...minimal], { cwd: folder.path });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(readdirSync(folder.path).toSorted()).toEqual([".yo-rc.json", "my-app", "package.json"]);
  });

  it("shows help and version", async () => {
    const manifest = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8"));
    const [help, version] = await Promise.all(
      ["--help", "--version"].map((flag) => createTsgi([flag], { cwd: packageRoot })),
    );
    expect(help).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("Usage: create-tsgi") });
    expect(version).toEqual({ status: 0, stderr: "", stdout: `${manifest.version}\n` });
  });

  it("fails if its output has space for only a part of the text", async () => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await runBy('ulimit -f 1; exec "$@" > help', "--help", folder.path);
    expect(stderr).toMatch(/^create-tsgi: standard output cannot be written, and is not complete: EFBIG: .*\n$/);
    expect(status).toBe(1);
  });

  it("ends without an error if the reader of its output has ended", async () => {
    const { status, stderr } = await runBy('{ "$@"; echo "$?" >&2; } | true', "--help", packageRoot);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "0\n" });
  });
});

/** A device of Linux that fails as a full disk does. */
const describeWithDevice = existsSync("/dev/full") ? describe : describe.skip;

describeWithDevice("a full disk", () => {
  it.each(["--help", "--version", "my-app --dry-run --yes", "my-app --dry-run --json", "../X --json"])(
    "ends the command with an error of one line if its output is on it: %s",
    async (line) => {
      await using folder = await temporaryFolder();
      const { status, stderr } = await runBy('exec "$@" > /dev/full', line, folder.path);
      expect(stderr).toMatch(/^create-tsgi: .*\n$/);
      expect(status).toBe(line.startsWith("..") ? 2 : 1);
    },
  );
});

describe("a wrong command line", () => {
  it.each([
    ["a name that npm refuses", ["My App"]],
    ["a path to a folder that npm refuses as a name", ["../X"]],
    ["__proto__", ["__proto__"]],
    ["300 characters", ["x".repeat(300)]],
    ["an unknown flag", ["my-app", "--typescript"]],
    ["an unknown template", ["my-app", "--template", "nope"]],
    ["a second name", ["my-app", "other"]],
  ])("is rejected with status 2 and one line: %s", async (_what, parameters) => {
    await using folder = await temporaryFolder();
    const { status, stdout, stderr } = await createTsgi([...parameters, ...quick], { cwd: folder.path });
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^create-tsgi: .+\n$/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("is rejected if npm kept --dry-run for itself, instead of writing", async () => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await createTsgi(["my-app"], {
      cwd: folder.path,
      env: { npm_command: "init", npm_config_dry_run: "true" },
    });
    expect(status).toBe(2);
    expect(stderr).toContain("npm create tsgi my-app -- ");
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe("a folder that is not empty", () => {
  it("is left as it is, with the files in the way and status 1", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "my-app"));
    await writeFile(join(folder.path, "my-app/README.md"), "mine");
    const { status, stdout, stderr } = await createTsgi(["my-app", ...minimal], { cwd: folder.path });
    expect(status).toBe(1);
    expect(stdout).not.toContain("Wrote");
    expect(stderr).toMatch(/is not empty, and these files are in the way:\n {2}README\.md\n.*--force/);
    expect(readdirSync(join(folder.path, "my-app"))).toEqual(["README.md"]);
    expect(readdirSync(folder.path)).toEqual(["my-app"]);
  });

  it("shows in a dry run the files to overwrite, and that it would be rejected", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "my-app"));
    await writeFile(join(folder.path, "my-app/README.md"), "mine");
    const { status, stdout } = await createTsgi(["my-app", "--dry-run", ...minimal], { cwd: folder.path });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^ {2}overwrite README\.md$/m);
    const forced = await createTsgi(["my-app", "--dry-run", "--force", ...minimal], { cwd: folder.path });
    expect(forced.status).toBe(0);
    expect(await readFile(join(folder.path, "my-app/README.md"), "utf8")).toBe("mine");
  });

  it("is overwritten with --force, and no file in it is deleted", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "my-app"));
    await writeFile(join(folder.path, "my-app/README.md"), "mine");
    await writeFile(join(folder.path, "my-app/notes.txt"), "mine");
    const { status } = await createTsgi(["my-app", "--force", ...minimal], { cwd: folder.path });
    expect(status).toBe(0);
    expect(await readFile(join(folder.path, "my-app/README.md"), "utf8")).toMatch(/^# my-app\n/);
    expect(await readFile(join(folder.path, "my-app/notes.txt"), "utf8")).toBe("mine");
  });

  it("is a file: one line and status 1", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "my-app"), "mine");
    const { status, stderr } = await createTsgi(["my-app", ...minimal], { cwd: folder.path });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^create-tsgi: .*my-app exists and is not a folder\n$/);
  });
});

(hasProgram("git") ? describe : describe.skip)("Git (skipped if it is not installed)", () => {
  const person = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@example.com" };
  const committer = { GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@example.com" };

  it("makes the project a repository with one commit of all files that are not ignored, and without .env", async () => {
    await using folder = await temporaryFolder();
    const env = { ...person, ...committer };
    const made = await createTsgi(["my-app", "--yes", "--no-install"], { cwd: folder.path, env });
    expect(made.stdout).not.toContain("no commit");
    const git = async (...parameters: string[]) =>
      (await run("git", parameters, { cwd: join(folder.path, "my-app") })).stdout;
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("log", "--format=%s %an")).toMatch(/^Create my-app with create-tsgi \d+\.\d+\.\d+ A\n$/);
    const files = (await git("ls-files")).split("\n");
    expect(files).toEqual(expect.arrayContaining([".env.example", "package.json", "src/app.ts"]));
    expect(files).not.toContain(".env");
  });

  it("reports a missing commit when Git does not know the author", async () => {
    await using folder = await temporaryFolder();
    const config = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.useConfigOnly", GIT_CONFIG_VALUE_0: "true" };
    const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", ...config };
    const { status, stdout } = await createTsgi(["my-app", "--yes", "--no-install", "--template=minimal"], {
      cwd: folder.path,
      env,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/has no commit yet: .*email/) });
    expect(existsSync(join(folder.path, "my-app/.git"))).toBe(true);
  });

  it("is not initialized inside another repository, except with --git", async () => {
    await using folder = await temporaryFolder();
    await run("git", ["init", "--quiet"], { cwd: folder.path });
    const { stdout } = await createTsgi(["one", "--yes", "--no-install", "--template=minimal"], { cwd: folder.path });
    expect(stdout).toContain("Did not create a Git repository: it is already in one.");
    expect(existsSync(join(folder.path, "one/.git"))).toBe(false);
    await createTsgi(["two", "--yes", "--no-install", "--template=minimal", "--git"], { cwd: folder.path });
    expect(existsSync(join(folder.path, "two/.git"))).toBe(true);
  });

  it("is skipped if Git is not installed", async () => {
    await using folder = await temporaryFolder();
    const env = { PATH: folder.path };
    const { status, stdout } = await createTsgi(["my-app", "--yes", "--no-install", "--template=minimal"], {
      cwd: folder.path,
      env,
    });
    expect(stdout).toContain("Did not create a Git repository: Git is not installed.");
    expect(status).toBe(0);
  });
});

describe("an installation that fails", () => {
  it("exits with status 1 and reports that the project is written and the missing step", async () => {
    await using folder = await temporaryFolder();
    const bin = join(folder.path, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "npm"), "#!/bin/sh\necho 'npm error: no network' >&2\nexit 7\n", { mode: 0o755 });
    const { status, stdout, stderr } = await spawnTsgi(["my-app", "--yes", "--no-git"], {
      cwd: folder.path,
      env: { PATH: `${bin}:${process.env["PATH"]}` },
    });
    expect(status).toBe(1);
    expect(stderr).toContain("npm error: no network");
    expect(stderr).toMatch(
      /ended with status 7; the project is written, its dependencies are missing: run npm install/,
    );
    expect(stdout).not.toContain("Next:");
    expect(existsSync(join(folder.path, "my-app/package.json"))).toBe(true);
  });
});

describe("an installation", () => {
  it.each([
    ["auth", ["install", "run generate"]],
    ["minimal", ["install"]],
  ])("installs everything that the application of the template %s imports", async (template, expected) => {
    await using folder = await temporaryFolder();
    const bin = join(folder.path, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "npm"), `#!/bin/sh\necho "$1\${2:+ $2}" >> ${folder.path}/calls\n`, { mode: 0o755 });
    const { status } = await createTsgi(["my-app", "--template", template, "--yes", "--no-git"], {
      cwd: folder.path,
      env: { PATH: `${bin}:${process.env["PATH"]}` },
    });
    expect(status).toBe(0);
    const calls = (await readFile(join(folder.path, "calls"), "utf8")).trimEnd().split("\n");
    expect(calls.map((call) => call.replace(/^install .*/, "install"))).toEqual(expected);
  });
});

describe("a signal during the installation", () => {
  it("stops npm too, with status 130 and the state of the project", async () => {
    await using folder = await temporaryFolder();
    const bin = join(folder.path, "bin");
    const ended = join(folder.path, "npm-has-ended");
    await mkdir(bin);
    await writeFile(
      join(bin, "npm"),
      // One process: a shell that ends its own child can lose the signal between its fork and its exec.
      `#!/usr/bin/env node
process.on("SIGTERM", () => {
  require("node:fs").writeFileSync(${JSON.stringify(ended)}, "");
  process.exit(143);
});
setInterval(() => {}, 60_000);
console.log("busy");
`,
      { mode: 0o755 },
    );
    const child = spawn(process.execPath, [program, "my-app", "--yes", "--no-git"], {
      cwd: folder.path,
      env: { ...shellEnvironment, PATH: `${bin}:${process.env["PATH"]}` },
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("busy")) {
        child.kill("SIGTERM");
      }
    });
    // Closed when npm, which holds the same outputs, has exited too.
    const [status] = await once(child, "close");
    expect(status).toBe(130);
    expect(said).toMatch(/^create-tsgi: cancelled, the project is written, .*run npm install in it\n$/);
    expect(existsSync(ended)).toBe(true);
  });
});

describe("--json", () => {
  it("does not prompt, and prints one JSON document with the result", async () => {
    await using folder = await temporaryFolder();
    const flags = ["--json", "--no-install", "--no-git", "--template", "minimal"];
    const { status, stdout, stderr } = await createTsgi(["my-app", ...flags], { cwd: folder.path });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      folder: join(folder.path, "my-app"),
      answers: { name: "my-app", template: "minimal", docker: true, packageManager: "npm" },
      dryRun: false,
      files: expect.arrayContaining([{ path: "src/app.ts", action: "create" }]),
      git: false,
      installed: false,
      next: ["cd my-app", "npm install", "npm start", "npm run dev", "npm test"],
      example: expect.stringContaining("curl "),
    });
  });

  it("lists the files of a dry run, and does not write them", async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await createTsgi(["my-app", "--json", "--dry-run"], { cwd: folder.path });
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, installed: false, git: false });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("also prints errors as a document, in addition to the text for people", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout, stderr } = await createTsgi(["../X", "--json"], { cwd: folder.path });
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ error: { message: expect.stringContaining("capital letters"), exitCode: 2 } });
    expect(stderr).toMatch(/^create-tsgi: .+\n$/);
  });
});

describe("--database with a template without a database", () => {
  it("is reported as unused", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await createTsgi(
      ["my-app", "--template", "minimal", "--database", "postgresql", ...quick],
      { cwd: folder.path },
    );
    expect(status).toBe(0);
    expect(stdout).toContain("The template minimal does not use a database: postgresql is ignored.");
  });
});
