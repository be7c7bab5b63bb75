/** A platform that runs the application of the statements, and the bundle that its tools make. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { build, type BuildOptions } from "esbuild";
import type { Subject } from "../anywhere/_statements.js";

/** A platform that serves the application. */
export interface Running {
  readonly url: string;
  close(): Promise<void>;
}

/** A place to deploy to, and its programs. */
export interface Platform extends Pick<Subject, "name" | "lacks"> {
  /** The programs that run the function, with their versions. */
  readonly programs: string;
  /** Builds the application in an empty folder and starts it. */
  start(home: string): Promise<Running>;
}

const APP = path.join(import.meta.dirname, "../anywhere/app");

/** A folder outside of the repository, where a program finds no package. */
export function createHome(): string {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "tsgi-platform-")));
  cpSync(path.join(APP, "public"), path.join(home, "public"), { recursive: true });
  return home;
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

/** Bundles an entry for a function into one file. */
export async function bundle(home: string, source: string, options: BuildOptions = {}): Promise<void> {
  const entry = path.join(APP, `.entry-${process.pid}-${path.basename(home)}.mjs`);
  writeFileSync(entry, source);
  try {
    await build({
      entryPoints: [entry],
      outfile: path.join(home, "index.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      mainFields: ["module", "main"],
      logLevel: "error",
      ...options,
    });
  } finally {
    rmSync(entry);
  }
}

/** Starts a program that prints its address in one line. */
export async function startProgram(
  [file = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  urlOf = (line: string): string | null => /https?:\S+/.exec(line)?.[0].replace(/\/$/, "") ?? null,
): Promise<Running> {
  mkdirSync(cwd, { recursive: true });
  const stderr = process.env["TSGI_SHOW"] === undefined ? "ignore" : "inherit";
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", stderr],
    detached: true,
  });
  const ended = once(child, "close");
  const close = async () => {
    stop(child);
    await ended;
  };
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const url = urlOf(line);
    if (url === null) continue;
    child.stdout?.resume();
    return { url, close };
  }
  throw new Error(`${file} ended before it listened.`);
}

/** Ends a program and its children. */
function stop({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
