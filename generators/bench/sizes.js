/**
 * Measures the installed packages of projects with a database, in MB: all packages, the packages after `npm prune --omit=dev`, and
 * the packages after the steps in the Dockerfile of a project. Needs the registry of npm, and some minutes:
 * `node generators/bench/sizes.js`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const program = path.join(import.meta.dirname, "../bin/create-tsgi.js");
const folder = mkdtempSync(path.join(tmpdir(), "sizes-"));

const prisma = ["@prisma/client@7.10.0", "@prisma/adapter-libsql@7.10.0"];
const tools = ["prisma@7.10.0", "tsx", "@types/node@22"];

/** The packages of other projects with routes, schemas, an OpenAPI page and a database. */
const others = {
  Fastify: {
    dependencies: [
      "fastify",
      "@fastify/swagger",
      "@fastify/swagger-ui",
      "@fastify/type-provider-typebox",
      "typebox",
      ...prisma,
    ],
    devDependencies: ["typescript", ...tools],
  },
  Nest: {
    dependencies: [
      "@nestjs/common",
      "@nestjs/core",
      "@nestjs/platform-express",
      "@nestjs/swagger",
      "class-transformer",
      "class-validator",
      "reflect-metadata",
      "rxjs",
      ...prisma,
    ],
    devDependencies: [
      "@nestjs/cli",
      "@nestjs/schematics",
      "@nestjs/testing",
      "jest",
      "ts-jest",
      "typescript@5",
      ...tools,
    ],
  },
};

const own = {
  "tsgi, `--template api --database sqlite`": ["--template=api", "--database=sqlite"],
  "tsgi, `--template auth`": ["--template=auth"],
};

function sh(line, cwd) {
  return execFileSync("sh", ["-c", line], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

const quiet = "--no-audit --no-fund --loglevel=error";
const install = `npm install --prefer-offline ${quiet}`;
const sizeOf = (project) => Number.parseInt(sh(`du -sm ${path.join(project, "node_modules")}`), 10);

/** The `RUN` lines of the Dockerfile after the installation and the build. */
function stepsOf(dockerfile) {
  const lines = [...dockerfile.matchAll(/^RUN (.*)$/gm)].map(([, line]) => line);
  return lines
    .filter((line) => /prune|find/.test(line))
    .map((line) => line.replace(/^npm ci && npm run build && /, ""));
}

/** Measures a project after its installation. */
function measure(project, steps) {
  const all = sizeOf(project);
  sh(`npm prune --omit=dev ${quiet}`, project);
  const omitted = sizeOf(project);
  for (const step of steps) sh(step, project);
  return [all, omitted, sizeOf(project)];
}

const report = (...row) => console.log(`| ${row.join(" | ")} |`);
let steps = [];
try {
  for (const [title, flags] of Object.entries(own)) {
    const name = `own${Object.keys(own).indexOf(title)}`;
    sh(`node ${program} ${name} --yes --no-git --no-install --into ${folder} ${flags.join(" ")}`);
    const project = path.join(folder, name);
    sh(install, project);
    steps = stepsOf(readFileSync(path.join(project, "Dockerfile"), "utf8"));
    report(title, ...measure(project, steps));
  }
  for (const [title, { dependencies, devDependencies }] of Object.entries(others)) {
    const project = path.join(folder, title);
    mkdirSync(project);
    writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "other", private: true }));
    sh(`${install} ${dependencies.join(" ")}`, project);
    sh(`${install} --save-dev ${devDependencies.join(" ")}`, project);
    report(title, ...measure(project, steps));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
