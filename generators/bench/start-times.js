/**
 * Measures the seconds from a command that creates a project to the first response of its server, for create-tsgi and other
 * generators: the project with its packages, then the start. The cache of npm is warm, because the first round is ignored. Needs the
 * registry of npm, and some minutes: `node generators/bench/start-times.js`.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";

const ROUNDS = Number(process.argv[2] ?? 3);
const folder = mkdtempSync(path.join(tmpdir(), "start-times-"));
const bin = path.join(folder, "node_modules/.bin");
const own = path.join(import.meta.dirname, "../bin/create-tsgi.js");

/** The commands that write a project into `app` with its packages, and start it; the port of the server. */
const generators = {
  "create-tsgi": {
    create: `node ${own} app --template minimal --yes --no-git --into .`,
    start: "npm start",
    port: 8000,
  },
  "create-hono": {
    create: `${bin}/create-hono app --template nodejs --pm npm --install && npm install --prefix app`,
    start: "npm run dev",
    port: 3000,
  },
  "fastify-cli": {
    create: `${bin}/fastify generate app --lang=ts && npm install --prefix app`,
    start: "npm start",
    port: 3000,
  },
  "@nestjs/cli": {
    create: `${bin}/nest new app --package-manager npm --skip-git`,
    start: "npm start",
    port: 3000,
  },
};

const env = { ...process.env, npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };

function sh(line, cwd) {
  execFileSync("sh", ["-c", line], { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
}

/** Resolves with the first response of a server. */
async function responseOf(port, child) {
  while (child.exitCode === null) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    if (response !== null) return;
    await setTimeout(20);
  }
  throw new Error(`the server ended with status ${child.exitCode}`);
}

/** Starts the server of a project, and stops it with its process group after its first response. */
async function serveOnce(project, line, port) {
  const child = spawn("sh", ["-c", line], { cwd: project, env, stdio: "ignore", detached: true });
  const ended = once(child, "close");
  try {
    await responseOf(port, child);
  } finally {
    if (child.exitCode === null) process.kill(-Number(child.pid), "SIGKILL");
    await ended;
  }
}

async function measure({ create, start, port }) {
  const parent = mkdtempSync(path.join(folder, "round-"));
  const [before, project] = [performance.now(), path.join(parent, "app")];
  sh(create, parent);
  const created = performance.now();
  await serveOnce(project, start, port);
  const served = performance.now();
  rmSync(parent, { recursive: true, force: true });
  return [created - before, served - created, served - before].map((duration) => duration / 1000);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

try {
  sh("npm install create-hono fastify-cli @nestjs/cli", folder);
  const rows = new Map(Object.keys(generators).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, generator] of Object.entries(generators)) {
      const row = await measure(generator);
      if (round > 0) rows.get(name).push(row);
    }
  }
  const medians = new Map(
    [...rows].map(([name, all]) => [name, [0, 1, 2].map((column) => median(all.map((row) => row[column])))]),
  );
  const first = medians.get("create-tsgi");
  for (const [name, seconds] of medians) {
    const ratios = seconds.map((value, column) => (value / first[column]).toFixed(1));
    console.log(`| ${[name, ...ratios, seconds.map((value) => value.toFixed(1)).join(" ")].join(" | ")} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
