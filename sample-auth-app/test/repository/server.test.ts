import { setImmediate as loopTurn } from "node:timers/promises";
import { exec } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";

import { beforeAll, describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { INSECURE_SECRET_KEY } from "../../src/config.js";
import { SECRET_KEY } from "./support/constants.js";
import { temporaryFolder } from "./support/folder.js";
import { startServer } from "./support/program.js";

const IS_SLOW = process.env["TSGI_SLOW"] !== undefined;

describe("the server", () => {
  it("starts in an empty folder, prints its address, warns about its key, jobs and mail, and its printed curl command works", async () => {
    await using folder = await temporaryFolder();
    await using server = await startServer({}, folder.path);
    const url = await server.ready;
    expect(server.stdout().trimEnd().split("\n")).toEqual([
      "Demo user: demo, password: demo-password",
      `Ready on ${url}, documentation on ${url}/docs, Ctrl-C stops it`,
      `Try: curl -d 'username=demo&password=demo-password' ${url}/auth/token`,
    ]);
    while (!server.stderr().includes("SMTP_URL")) await loopTurn(); // the two outputs are two pipes
    const warnings = server.stderr().trimEnd().split("\n");
    expect(warnings.map((line): string => JSON.parse(line).message).toSorted()).toEqual([
      "Jobs run inline, in this process: they are lost when it ends. Schedules do not run.",
      expect.stringContaining("SECRET_KEY: it is the insecure placeholder"),
      "SMTP_URL is not set: mail is written to this log, not sent",
    ]);
    const command = /^Try: (.*)$/m.exec(server.stdout())![1]!;
    const { stdout } = await promisify(exec)(`${command} --silent`);
    const { access_token: token } = JSON.parse(stdout);
    const { body: items } = await supertest(url).get("/items").auth(token, { type: "bearer" }).expect(200);
    expect(items).toHaveLength(3);
  });

  it("prints on one line why it does not start", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, "letter.db"), "this is a letter to my aunt, not a database\n".repeat(100));
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    const before = await readdir(folder.path);
    const postgresql = "postgresql://app:a-secret@localhost:1/app";
    const failures: [env: Record<string, string>, line: RegExp][] = [
      [{ PORT: "http" }, /^PORT: .*"http"$/],
      [{ DATABASE_URL: "file:./letter.db" }, /^SQLite, file:\.\/letter\.db: .*not a database/],
      [{ DATABASE_URL: postgresql }, /^PostgreSQL, host localhost, port 1: .*ECONNREFUSED(?!.*a-secret)/],
    ];
    const rarer: typeof failures = [
      [{ PORT: String(port), DATABASE_URL: `file:${folder.path}/port.db` }, new RegExp(`^Port ${port} .*in use`)],
      [{ NODE_ENV: "production", SECRET_KEY: INSECURE_SECRET_KEY }, /^SECRET_KEY: it is the insecure placeholder, /],
      [{ TRUSTED_PROXIES: "127.0.0.1, everyone" }, /^trustedProxies: expected addresses, .*, not "everyone"\.$/],
      [{ HOST: "192.0.2.1", DATABASE_URL: `file:${folder.path}/host.db` }, /192\.0\.2\.1/],
      [{ DATABASE_URL: "file:./missing/app.db" }, /missing\/app\.db/],
    ];
    for (const [env, line] of IS_SLOW ? [...failures, ...rarer] : failures) {
      await using server = await startServer({ SECRET_KEY, ...env }, folder.path);
      server.ready.catch(() => {});
      expect(await server.ended).toBe(1);
      const lines = server.stderr().trimEnd().split("\n");
      expect(lines.filter((text) => !text.startsWith("{"))).toEqual([expect.stringMatching(line)]);
    }
    other.close();
    expect(before).toEqual(["letter.db"]);
  });
});

describe("the server in production, stopped and started again", () => {
  const WITH_TRACES = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  const runs: Awaited<ReturnType<typeof run>>[] = [];

  /** Starts the server, sends it some requests, and stops it with a signal. */
  async function run(folder: string, signal: NodeJS.Signals, env: Record<string, string>) {
    await using server = await startServer({ NODE_ENV: "production", SECRET_KEY, ...env }, folder);
    const url = await server.ready;
    const stdout = server.stdout(); // without the access log of the requests
    const request = supertest(url);
    const demo = { username: "demo", password: "demo-password" };
    const user = { username: "alice", email: "alice@example.com", password: "correct horse" };
    const answers = {
      health: await request.get("/health").set("X-Forwarded-Proto", "https"),
      login: await request.post("/auth/token").type("form").send(demo),
      registration: await request.post("/users").send(user),
    };
    server.kill(signal);
    return { url, ...answers, status: await server.ended, stdout, stderr: server.stderr() };
  }

  beforeAll(async () => {
    await using folder = await temporaryFolder();
    runs.push(await run(folder.path, "SIGINT", { TRUSTED_PROXIES: "10.0.0.0/8, loopback", ...WITH_TRACES }));
    runs.push(await run(folder.path, "SIGTERM", {}));
  });

  it("ends with status 0 on SIGINT and SIGTERM, and starts again with its data", () => {
    expect(runs.map(({ status }) => status)).toEqual([0, 0]);
    expect(runs.map(({ registration }) => registration.status)).toEqual([201, 409]);
  });

  it("makes no demo user in production", () => {
    expect(runs.map(({ login }) => login.status)).toEqual([401, 401]);
    for (const { stdout, url } of runs) {
      expect(stdout).toBe(`Ready on ${url}, documentation on ${url}/docs, Ctrl-C stops it\n`);
    }
  });

  it("trusts only the proxies that TRUSTED_PROXIES lists, and no proxy by default", () => {
    const told = runs.map(({ health }) => health.get("Strict-Transport-Security"));
    expect(told).toEqual(["max-age=31536000", undefined]);
  });

  it("serves without traces, and logs that, if a collector is configured but the packages are missing", () => {
    const warning = { level: "warn", message: "Tracing is disabled: npm install @opentelemetry/sdk-node" };
    const logged = runs.map(({ stderr }) => stderr.split("\n").filter((line) => line.includes("Tracing")));
    expect(logged.map((lines) => lines.length)).toEqual([1, 0]);
    expect(JSON.parse(logged[0]![0]!)).toMatchObject(warning);
    expect(runs[0]?.health.status).toBe(200);
  });
});
