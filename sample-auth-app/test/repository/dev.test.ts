import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { SECRET_KEY } from "./support/constants.js";
import { temporaryFolder } from "./support/folder.js";
import { startProgram } from "./support/program.js";

const MODULE = path.join(import.meta.dirname, "../../src/main.ts");
const TSGI = path.join(path.dirname(createRequire(import.meta.url).resolve("tsgi/package.json")), "bin/tsgi.js");

describe("the application under `tsgi dev`", () => {
  it("prepares its database, prints the demo user, and lets it log in", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, ".env"), `SECRET_KEY=${SECRET_KEY}\n`);
    const parameters = [TSGI, "dev", MODULE, "--env-file-if-exists", ".env"];
    await using server = await startProgram([process.execPath, ...parameters], {}, folder.path, (stdout, stderr) =>
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
});
