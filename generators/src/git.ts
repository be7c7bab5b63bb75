import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "./errors.js";

/** Runs Git in a folder. Ignores the `GIT_*` variables of a hook that runs this process. */
function git(folder: string, ...parameters: string[]): { isDone: boolean; error: string } {
  const env = { ...process.env, GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_INDEX_FILE: undefined };
  const child = spawnSync("git", parameters, { cwd: folder, env, encoding: "utf8" });
  return { isDone: child.status === 0, error: child.error?.message ?? child.stderr.trim() };
}

/** The reason not to initialize a repository in a folder by default, or `null`. The folder need not exist. */
export function whyNoRepository(folder: string): string | null {
  if (existsSync(join(folder, ".git"))) {
    return "it is one already";
  }
  let existing = folder;
  while (!existsSync(existing)) {
    existing = dirname(existing);
  }
  if (git(existing, "rev-parse", "--is-inside-work-tree").isDone) {
    return "it is already in one";
  }
  return git(existing, "--version").isDone ? null : "Git is not installed";
}

/**
 * Initializes a Git repository, without a commit.
 *
 * @throws CommandError with Git's message
 */
export function makeRepository(folder: string): void {
  const { isDone, error } = git(folder, "init", "--quiet");
  if (!isDone) {
    throw new CommandError(`the project is written, but Git could not make it a repository: ${error}`);
  }
}

/**
 * Commits all files that are not ignored. Without a signature, which may ask for a passphrase, and without the user's
 * hooks for new repositories.
 *
 * @returns Git's message after a failure, such as an unknown author; `null` after success
 */
export function commitAll(folder: string, message: string): string | null {
  const added = git(folder, "add", "--all");
  const made = added.isDone
    ? git(folder, "commit", "--quiet", "--no-verify", "--no-gpg-sign", `--message=${message}`)
    : added;
  return made.isDone ? null : (made.error.split("\n").findLast((line) => line.trim() !== "") ?? "git commit failed");
}
