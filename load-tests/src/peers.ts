/** Installs the peers on demand, in the versions of their lock file. @module */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PEER_SOURCES, PEERS, REPOSITORY } from "./paths.js";

const STAMP = new URL("installed-from.json", PEERS);
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Lays out `.cache/peers`: copies the peers' modules there, and installs the packages unless the same lock file is
 * installed already.
 *
 * @returns Each direct dependency with its version, for the report.
 * @throws Error with npm's own words when the installation fails.
 */
export async function preparePeers(): Promise<Readonly<Record<string, string>>> {
  const lock = await readFile(new URL("package-lock.json", PEER_SOURCES), "utf8");
  await mkdir(PEERS, { recursive: true });
  await cp(PEER_SOURCES, PEERS, { recursive: true });
  if ((await readStamp()) !== lock) {
    await rm(STAMP, { force: true });
    await install();
    await writeFile(STAMP, lock);
  }
  await copyDriver();
  return versionsOf(lock);
}

async function readStamp(): Promise<string | null> {
  try {
    return await readFile(STAMP, "utf8");
  } catch {
    return null;
  }
}

async function install(): Promise<void> {
  await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], {
    cwd: fileURLToPath(PEERS),
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/**
 * Puts `@tsgi/uwebsockets` next to uWebSockets.js, which it loads from its own folder: a link would resolve elsewhere.
 */
async function copyDriver(): Promise<void> {
  const source = new URL("framework/uwebsockets/", REPOSITORY);
  const target = new URL("node_modules/@tsgi/uwebsockets/", PEERS);
  await rm(target, { recursive: true, force: true });
  for (const part of ["package.json", "dist"]) {
    await cp(new URL(part, source), new URL(part, target), { recursive: true });
  }
}

function versionsOf(lock: string): Record<string, string> {
  // npm wrote the file, in the form of its documentation for lockfileVersion 3.
  const { packages } = JSON.parse(lock) as {
    packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
  };
  return packages[""]?.dependencies ?? {};
}
