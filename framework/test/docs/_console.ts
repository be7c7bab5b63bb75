/** The terminal blocks of a page, executed. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Block, Step } from "./_blocks.js";
import { REPOSITORY } from "./_project.js";

const COMMAND = path.join(REPOSITORY, "framework/cli/bin/tsgi.js");

/** The address of the application on the pages. */
const ADDRESS = "127.0.0.1:8000";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

/**
 * Returns the tool that a terminal block needs but that is missing, or `null`. A block with the word `postgresql` needs
 * that.
 */
export function missingFor(block: Block): string | null {
  if (!hasCurl) return "curl is not installed";
  if (!block.words.includes("postgresql")) return null;
  const probe = `require("node:net").connect(5432, "127.0.0.1", process.exit).on("error", () => process.exit(1))`;
  return spawnSync(process.execPath, ["-e", probe]).status === 0 ? null : "no PostgreSQL at 127.0.0.1:5432";
}

/**
 * Starts a module, runs each command, and returns its output. A module that calls `serve` is a separate program, which
 * reads its port from `PORT`; any other is served by `tsgi run`.
 */
export async function typeIn(module: string, steps: readonly Step[]): Promise<string[]> {
  const isProgram = (await readFile(module, "utf8")).includes("serve(");
  const server = spawn(process.execPath, isProgram ? [module] : [COMMAND, "run", module], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-docs-"));
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let output = "";
      const read = (chunk: Buffer) => {
        output += chunk.toString();
        const match = /127\.0\.0\.1:\d+/.exec(output);
        if (match) resolve(match[0]);
      };
      server.stdout.on("data", read);
      server.stderr.on("data", read);
      server.once("close", () => reject(new Error(`The application did not start:\n${output}`)));
    });
    return await runSteps(steps, address, folder);
  } finally {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "close");
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs each command against the application at an address, and returns its output. One shell for all of them, so that a
 * variable that one sets is there for the next.
 */
export async function runSteps(steps: readonly Step[], address: string, cwd: string): Promise<string[]> {
  const mark = "--- a mark between commands ---";
  const script = steps.map(({ command }) => `${command.replaceAll(ADDRESS, address)}\necho; echo '${mark}'\n`).join("");
  const output = await new Promise<string>((resolve, reject) => {
    execFile("sh", ["-c", script.replaceAll("curl ", "curl -s ")], { cwd }, (error, stdout, stderr) =>
      error ? reject(error) : resolve(stdout + stderr),
    );
  });
  return output
    .replaceAll("\r", "")
    .replaceAll(address, ADDRESS)
    .split(mark)
    .slice(0, steps.length)
    .map((text) => text.trim());
}

/** Whether the output matches the page, where `…` stands for anything, and as a line for any lines. */
export function isAsShown(answer: string, shown: string): boolean {
  const pattern = shown
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("\n…\n", String.raw`\n(?:[^]*\n)?`)
    .replaceAll("…", "[^]*");
  return new RegExp(`^${pattern}$`).test(answer);
}
