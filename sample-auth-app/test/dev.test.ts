import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { SECRET_KEY, temporaryFolder } from "./support.js";
import { startProgram } from "./support/program.js";

const MODULE = path.join(import.meta.dirname, "../src/dev.ts");
const PROJECT = path.join(import.meta.dirname, "..");
const TSGI = path.join(path.dirname(createRequire(import.meta.url).resolve("tsgi/package.json")), "bin/tsgi.js");

describe("the application under `tsgi dev`", () => {
  it("prepares its database, names the demo user, and lets it in", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, ".env"), `SECRET_KEY=${SECRET_KEY}\n`);
    const parameters = [TSGI, "dev", MODULE, "--env-file-if-exists", ".env"];
    await using server = await startProgram(parameters, {}, folder.path, (stdout, stderr) =>
      stdout.includes("\n") && stderr.includes("Ready in") ? /Listening on (\S+)/.exec(stderr)?.[1] : undefined,
    );
    const url = await server.ready;
    expect(server.stdout()).toBe("Demo user: demo, password: demo-password\n");
    expect(server.stderr()).not.toContain("Warning");
    const form = { username: "demo", password: "demo-password" };
    await supertest(url).post("/auth/token").type("form").send(form).expect(200);
    server.kill("SIGINT");
    expect(await server.ended).toBe(0);
  });

  it.each([
    ["mysql://x", "DATABASE_URL: expected file: and the path of an SQLite file, or postgresql://"],
    ["postgresql://127.0.0.1:1/none", "cannot prepare the database postgresql://127.0.0.1:1/none: "],
  ])("says of DATABASE_URL=%s on one line what is wrong, and waits for a change", async (url, message) => {
    await using folder = await temporaryFolder();
    await using server = await startProgram(
      [TSGI, "dev", MODULE],
      { DATABASE_URL: url, SECRET_KEY },
      folder.path,
      (_, stderr) => (stderr.includes("Waiting for a change.\n") ? "waits" : undefined),
    );
    await server.ready;
    expect(server.stdout()).toBe("");
    const [first, ...others] = server.stderr().trimEnd().split("\n");
    expect(first).toContain(message);
    expect(others).toEqual(["tsgi dev: The application ended (exit code 1). Waiting for a change."]);
    server.kill("SIGINT");
    expect(await server.ended).toBe(0);
  });

  it("ends with the shell that npm runs its script in", async () => {
    await using folder = await temporaryFolder();
    const { scripts } = JSON.parse(await readFile(path.join(PROJECT, "package.json"), "utf8"));
    const packages = path.dirname(path.dirname(createRequire(import.meta.url).resolve("prisma/package.json")));
    const binaries = path.join(packages, ".bin");
    const shell = spawn("sh", ["-c", scripts.dev], {
      cwd: PROJECT,
      env: { PATH: `${binaries}:${process.env["PATH"]}`, PORT: "0", DATABASE_URL: `file:${folder.path}/dev.db` },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let said = "";
    const closed = once(shell.stderr, "close");
    for await (const line of createInterface({ input: shell.stderr })) {
      said += `${line}\n`;
      if (line.includes("Ready in")) break;
    }
    expect(said).toContain("Listening on");
    shell.kill("SIGTERM"); // the shell alone, as npm hands on a signal
    const [status, signal] = await once(shell, "exit");
    expect([status, signal]).toEqual([0, null]);
    await closed; // nobody holds the output any more
  });

  it("is looked at without a database", async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await promisify(execFile)(process.execPath, [TSGI, "routes", MODULE], { cwd: folder.path });
    expect(stdout).toMatch(/^POST +\/auth\/token /m);
    expect(await readdir(folder.path)).toEqual([]);
  });
});
