/** Each package without its peer dependency: one error, with the command that installs it. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { createFolder } from "./support/folder.js";
import { installPackages } from "./support/packages.js";

const run = promisify(execFile);

/** The package, a program that uses it, and the command that the error names. */
const CASES: readonly (readonly [name: string, program: string, command: string])[] = [
  ["@tsgi/otel", "", "npm install @opentelemetry/api"],
  ["@tsgi/metrics", "", "npm install prom-client"],
  ["@tsgi/passwords", "await new it.Passwords().hash('secret');", "npm install argon2@0.44"],
  ["@tsgi/redis", "await it.openRedisStore({ url: 'redis://127.0.0.1:1' });", "npm install ioredis"],
  ["@tsgi/oauth", "", "npm install jose"],
  ["@tsgi/login", "", "npm install openid-client@6 jose"],
  [
    "@tsgi/broadcast",
    "await new it.Broadcast({ backplane: it.redisBackplane('redis://127.0.0.1:1') }).publish('a', 1);",
    "npm install ioredis",
  ],
  [
    "@tsgi/broadcast",
    "await new it.Broadcast({ backplane: it.postgresBackplane('postgresql://127.0.0.1:1/a') }).publish('a', 1);",
    "npm install pg",
  ],
  ["@tsgi/mcp", "", "npm install @modelcontextprotocol/server"],
  [
    "@tsgi/prisma",
    "await it.openPrisma({ url: 'file:x.db', sqlite: async () => ({}) });",
    "npm install @prisma/adapter-libsql libsql",
  ],
  [
    "@tsgi/prisma",
    "await it.openPrisma({ url: 'postgresql://localhost/shop', postgresql: async () => ({}) });",
    "npm install @prisma/adapter-pg pg",
  ],
  // On an older Node.js, the error states the version that pg-boss requires.
  ...(Number(process.versions.node.split(".")[0]) < 22
    ? []
    : ([
        ["@tsgi/jobs", "await new it.Jobs({ url: 'postgresql://localhost' }).work();", "npm install pg-boss@12.38.0"],
      ] as const)),
  ["@tsgi/uwebsockets", "it.createServer();", "npm install uWebSockets.js@"],
];

/** A program that prints the errors of a package that is imported, and of one that is required. */
const programOf = (name: string, program: string) => `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const use = async (load) => {
  try { const it = await load(); ${program} return ["no error"]; } catch (error) { return [error.name, error.message]; }
};
console.log(JSON.stringify([await use(() => import("${name}")), await use(() => require("${name}"))]));`;

describe("a package without its peer dependency", () => {
  const folder = createFolder({ "package.json": '{ "type": "module" }' });
  let lines: readonly string[];

  /** One process runs the programs one after the other. */
  beforeAll(async () => {
    await installPackages(folder, [...new Set(CASES.map(([name]) => name))]);
    for (const [index, [name, program]] of CASES.entries()) {
      writeFileSync(path.join(folder, `case-${index}.js`), programOf(name, program));
    }
    const all = CASES.map((_, index) => `await import("./case-${index}.js");`);
    writeFileSync(path.join(folder, "all.js"), all.join("\n"));
    lines = (await run(process.execPath, ["all.js"], { cwd: folder })).stdout.trim().split("\n");
  });

  it.each(CASES.map(([name, , command], index) => [name, command, index] as const))(
    "throws a ConfigurationError with the command that installs it: %s",
    (_name, command, index) => {
      const error = ["ConfigurationError", expect.stringContaining(command)];
      expect(JSON.parse(lines[index] ?? "")).toEqual([error, error]);
    },
  );

  it("is served on Node's own loop, without an error, if @tsgi/uwebsockets is installed without uWebSockets.js", async () => {
    const file = path.join(folder, "serve.js");
    writeFileSync(
      file,
      `import { App } from "tsgi"; import { serve } from "tsgi/node";
       const logger = { debug() {}, info() {}, warn() {}, error: console.error };
       const server = await serve(new App({ logger }), { port: 0, signals: false, logger });
       console.log(server.loop); await server.close();`,
    );
    expect(await run(process.execPath, [file], { cwd: folder })).toEqual({ stdout: "libuv\n", stderr: "" });
  });
});

describe("the command tsgi", () => {
  const alone = createFolder({ "package.json": '{ "type": "module" }' });
  const complete = createFolder({ "package.json": '{ "type": "module" }' });
  const command = ["node_modules/tsgi/bin/tsgi.js", "--version"];

  it("prints the package to install in a project that has only the framework", async () => {
    await installPackages(alone, ["tsgi"]);
    await expect(run(process.execPath, command, { cwd: alone })).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: "The command tsgi is in a separate package. Run: npm install --save-dev @tsgi/cli\n",
    });
  });

  it("is the one of @tsgi/cli if it is installed", async () => {
    await installPackages(complete, ["@tsgi/cli"]);
    const { stdout } = await run(process.execPath, command, { cwd: complete });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
