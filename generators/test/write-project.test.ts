import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { planProject, refuseOccupied } from "../src/plan.js";
import type { ProjectFile } from "../src/project-file.js";
import { writeProject } from "../src/write-project.js";
import { temporaryFolder } from "./support.js";

const file = (path: string, text = path, more: Partial<ProjectFile> = {}): ProjectFile => ({
  path,
  contents: Buffer.from(text),
  mode: 0o666,
  ...more,
});

const project = [
  file("README.md"),
  file("src/app.ts"),
  file(".env", "SECRET_KEY=new\n", { mode: 0o600, isKept: true }),
];

/** All files below a folder, with their text. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((path) => readFile(path, "utf8")));
  return Object.fromEntries(files.map((path, index) => [path.slice(folder.length + 1), texts[index] ?? ""]));
}

describe("a project in a new folder", () => {
  it("has exactly its files", async () => {
    await using folder = await temporaryFolder();
    writeProject(planProject(join(folder.path, "my-app"), project));
    expect(readdirSync(folder.path)).toEqual(["my-app"]);
    expect(await snapshot(join(folder.path, "my-app"))).toEqual({
      "README.md": "README.md",
      "src/app.ts": "src/app.ts",
      ".env": "SECRET_KEY=new\n",
    });
  });

  it("makes the folders above it", async () => {
    await using folder = await temporaryFolder();
    writeProject(planProject(join(folder.path, "a/b/my-app"), project));
    expect(readdirSync(join(folder.path, "a/b"))).toEqual(["my-app"]);
  });

  it("restricts a secret to its owner, and uses the umask for the rest", async () => {
    await using folder = await temporaryFolder();
    const target = join(folder.path, "my-app");
    writeProject(planProject(target, [...project, file("run.sh", "", { mode: 0o777 })]));
    const ordinary = statSync(join(target, "src")).mode & 0o777;
    expect(statSync(join(target, ".env")).mode & 0o777).toBe(0o600);
    expect(statSync(target).mode & 0o777).toBe(ordinary);
    expect(statSync(join(target, "run.sh")).mode & 0o777).toBe(ordinary);
    expect(statSync(join(target, "README.md")).mode & 0o777).toBe(ordinary & 0o666);
  });

  it("leaves no files after a failure", async () => {
    await using folder = await temporaryFolder();
    // A file name longer than any file system takes: the files before it have been written by then.
    const broken = [...project, file(`src/${"x".repeat(300)}`)];
    const plan = planProject(join(folder.path, "a/b/my-app"), broken);
    expect(() => writeProject(plan)).toThrow(/cannot write .*my-app: ENAMETOOLONG/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("does not touch files that were created in its place meanwhile", async () => {
    await using folder = await temporaryFolder();
    const target = join(folder.path, "my-app");
    const plan = planProject(target, project);
    await mkdir(target);
    await writeFile(join(target, "theirs"), "theirs");
    expect(() => writeProject(plan)).toThrow(/cannot write .*my-app: ENOTEMPTY/);
    expect(readdirSync(folder.path)).toEqual(["my-app"]);
    expect(await snapshot(target)).toEqual({ theirs: "theirs" });
  });
});

describe("a project in an existing folder", () => {
  it("may go into an empty one, or one that is only a Git repository", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, ".git"));
    const plan = planProject(folder.path, project);
    expect(() => refuseOccupied(plan)).not.toThrow();
    const { ino } = statSync(folder.path);
    writeProject(plan);
    // The shell in the folder stays in it.
    expect(statSync(folder.path).ino).toBe(ino);
    expect(readdirSync(folder.path).toSorted()).toEqual([".env", ".git", "README.md", "src"]);
  });

  it("is rejected with the conflicting files", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "src"));
    await writeFile(join(folder.path, "README.md"), "mine");
    await writeFile(join(folder.path, "src/app.ts"), "mine");
    await writeFile(join(folder.path, "notes.txt"), "mine");
    expect(() => refuseOccupied(planProject(folder.path, project))).toThrow(
      /is not empty, and these files are in the way:\n {2}README\.md\n {2}src\/app\.ts\nChoose another name/,
    );
  });

  it("is rejected even without conflicting files", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "notes.txt"), "mine");
    expect(() => refuseOccupied(planProject(folder.path, project))).toThrow(/is not empty: it contains notes\.txt\./);
  });

  it("overwrites without deleting, and does not touch an existing .env", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "README.md"), "mine");
    await writeFile(join(folder.path, ".env"), "SECRET_KEY=mine\n");
    await writeFile(join(folder.path, "notes.txt"), "mine");
    const plan = planProject(folder.path, project);
    expect(plan.entries.map(({ file: { path }, action }) => [path, action])).toEqual([
      ["README.md", "overwrite"],
      ["src/app.ts", "create"],
      [".env", "skip"],
    ]);
    writeProject(plan);
    expect(await snapshot(folder.path)).toEqual({
      "README.md": "README.md",
      "src/app.ts": "src/app.ts",
      ".env": "SECRET_KEY=mine\n",
      "notes.txt": "mine",
    });
  });

  it("skips a file with the same content", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "README.md"), "README.md");
    const [entry] = planProject(folder.path, project).entries;
    expect(entry?.action).toBe("skip");
  });

  it("puts everything back when it fails half-way", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "README.md"), "mine");
    const plan = planProject(folder.path, [...project, file("zzz")]);
    // A change after the plan: a folder at the place of the last file.
    await mkdir(join(folder.path, "zzz/full"), { recursive: true });
    expect(() => writeProject(plan)).toThrow(/cannot write .*(EISDIR|ENOTEMPTY)/);
    expect(readdirSync(folder.path).toSorted()).toEqual(["README.md", "zzz"]);
    expect(await snapshot(folder.path)).toEqual({ "README.md": "mine" });
  });

  it("replaces a symbolic link instead of writing through it", async () => {
    await using folder = await temporaryFolder();
    const target = join(folder.path, "my-app");
    await mkdir(target);
    await writeFile(join(folder.path, "outside"), "theirs");
    await symlink("../outside", join(target, "README.md"));
    writeProject(planProject(target, project));
    expect(readFileSync(join(folder.path, "outside"), "utf8")).toBe("theirs");
    expect(lstatSync(join(target, "README.md")).isFile()).toBe(true);
  });

  it("is rejected if a folder, a file or a link of another type exists at its place", async () => {
    await using folder = await temporaryFolder();
    const target = join(folder.path, "my-app");
    await mkdir(join(target, "README.md"), { recursive: true });
    expect(() => planProject(target, project)).toThrow(/in the way of files of the project: README\.md \(a folder\)/);

    await using other = await temporaryFolder();
    await symlink(folder.path, join(other.path, "src"));
    expect(() => planProject(other.path, project)).toThrow(/src \(a symbolic link\)/);
    await writeFile(join(folder.path, "src"), "");
    expect(() => planProject(folder.path, project)).toThrow(/src \(not a folder\)/);
  });
});

describe("a path at which no project can be created", () => {
  it.each(["a file", "a dangling link", "below a file"])("is %s", async (kind) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "my-app");
    if (kind === "a dangling link") {
      await symlink("nowhere", path);
    } else {
      await writeFile(path, "theirs");
    }
    const target = kind === "below a file" ? join(path, "inner") : path;
    expect(() => planProject(target, project)).toThrow(/exists and is not a folder|dangling|is not a folder/);
    expect(existsSync(path) || lstatSync(path).isSymbolicLink()).toBe(true);
  });

  it("is a folder that may not be written into", async () => {
    await using folder = await temporaryFolder();
    const parent = join(folder.path, "locked");
    await mkdir(parent);
    await chmod(parent, 0o500);
    // The superuser may write everywhere.
    if (process.getuid?.() === 0) {
      return;
    }
    expect(() => writeProject(planProject(join(parent, "my-app"), project))).toThrow(/cannot write .*EACCES/);
  });
});
