import { exec } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { INSECURE_SECRET_KEY } from "../src/config.js";
import { openSQLite } from "../src/database/sqlite-client.js";
import { SECRET_KEY, temporaryFolder } from "./support.js";
import { type Program, startServer } from "./support/program.js";

describe("the server", () => {
  it("starts in an empty folder, says where it is, and its curl works as it is printed", async () => {
    await using folder = await temporaryFolder();
    await using server = await startServer({}, folder.path);
    const url = await server.ready;
    expect(server.stdout().trimEnd().split("\n")).toEqual([
      `Ready on ${url}, documentation on ${url}/docs, Ctrl-C stops it`,
      "Demo user: demo, password: demo-password",
      `Try: curl -d 'username=demo&password=demo-password' ${url}/auth/token`,
    ]);
    const command = /^Try: (.*)$/m.exec(server.stdout())![1]!;
    const { stdout } = await promisify(exec)(`${command} --silent`);
    const { access_token: token } = JSON.parse(stdout);
    const request = supertest(url);
    await request.get("/users/me").auth(token, { type: "bearer" }).expect(200, {
      username: "demo",
      email: "demo@example.com",
      disabled: false,
    });
    const { body: items } = await request.get("/items").auth(token, { type: "bearer" }).expect(200);
    expect(items).toHaveLength(3);
  });

  it("warns of the insecure placeholder, and not of a key that is long enough", async () => {
    await using folder = await temporaryFolder();
    await using warned = await startServer({ DATABASE_URL: "file:./one.db" }, folder.path);
    await using quiet = await startServer({ DATABASE_URL: "file:./two.db", SECRET_KEY }, folder.path);
    await Promise.all([warned.ready, quiet.ready]);
    expect(warned.stderr()).toMatch(/^Warning: SECRET_KEY is not set: .*insecure placeholder.*\n$/);
    expect(quiet.stderr()).toBe("");
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with status 0 on %s, and starts again with its data",
    async (signal) => {
      await using folder = await temporaryFolder();
      for (const expected of [201, 409]) {
        await using server = await startServer({}, folder.path);
        const user = { username: "alice", email: "alice@example.com", password: "correct horse" };
        await supertest(await server.ready)
          .post("/users")
          .send(user)
          .expect(expected);
        server.kill(signal);
        expect(await server.ended).toBe(0);
      }
    },
  );

  it("makes no demo user in production, and marks its cookies Secure", async () => {
    await using folder = await temporaryFolder();
    await using server = await startServer({ NODE_ENV: "production", SECRET_KEY }, folder.path);
    const url = await server.ready;
    expect(server.stdout()).toBe(`Ready on ${url}, documentation on ${url}/docs, Ctrl-C stops it\n`);
    const form = { username: "demo", password: "demo-password" };
    await supertest(url).post("/auth/token").type("form").send(form).expect(401);
  });

  it("believes the proxies that TRUSTED_PROXIES lists, and nobody where it lists none", async () => {
    await using folder = await temporaryFolder();
    await using behind = await startServer({ TRUSTED_PROXIES: "10.0.0.0/8, loopback" }, folder.path);
    await using alone = await startServer({}, folder.path);
    const told = async (server: Program) => {
      const answer = await supertest(await server.ready)
        .get("/health")
        .set("X-Forwarded-Proto", "https");
      return answer.get("Strict-Transport-Security");
    };
    expect([await told(behind), await told(alone)]).toEqual(["max-age=31536000", undefined]);
  });

  it("lets several start on one new database at once", async () => {
    await using folder = await temporaryFolder();
    await using one = await startServer({}, folder.path);
    await using two = await startServer({}, folder.path);
    const urls = await Promise.all([one.ready, two.ready]);
    for (const url of urls) {
      await supertest(url).get("/health").expect(200);
    }
  });
});

describe("a start that fails", () => {
  /** Runs the server to its end, which shall be one line on stderr and a status that is not 0. */
  async function failWith(env: Record<string, string>, folder: string): Promise<string> {
    await using server = await startServer({ SECRET_KEY, ...env }, folder);
    server.ready.catch(() => {});
    expect(await server.ended).toBe(1);
    expect(server.stdout()).toBe("");
    expect(server.stderr().trimEnd().split("\n")).toHaveLength(1);
    return server.stderr().trimEnd();
  }

  it.each([
    ["a port that is none", { PORT: "http" }, 'PORT: expected a number from 0 to 65535, got "http"'],
    [
      "the placeholder in production",
      { NODE_ENV: "production", SECRET_KEY: INSECURE_SECRET_KEY },
      expect.stringMatching(/^SECRET_KEY: production needs a random key of at least 32 bytes/),
    ],
    [
      "a proxy that is none",
      { TRUSTED_PROXIES: "127.0.0.1, everyone" },
      expect.stringMatching(/^trustedProxies: expected addresses, .*, not "everyone"\.$/),
    ],
    ["an address that is none of ours", { HOST: "192.0.2.1" }, expect.stringContaining("192.0.2.1")],
  ])("says so on one line: %s", async (_, env, message) => {
    await using folder = await temporaryFolder();
    expect(await failWith(env, folder.path)).toEqual(message);
  });

  it("says that the port is in use, and which variable chooses another", async () => {
    await using folder = await temporaryFolder();
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    expect(await failWith({ PORT: String(port) }, folder.path)).toMatch(
      new RegExp(`^Port ${port} .*in use.* PORT sets it, as in PORT=8001\\.$`),
    );
    other.close();
  });

  it("says that the database cannot be opened, and leaves nothing behind: a folder that does not exist", async () => {
    await using folder = await temporaryFolder();
    const line = await failWith({ DATABASE_URL: "file:./missing/app.db" }, folder.path);
    expect(line).toMatch(/^cannot prepare the database file:\.\/missing\/app\.db: /);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("says that the database cannot be opened, and leaves it as it is: a folder", async () => {
    await using folder = await temporaryFolder();
    await mkdir(path.join(folder.path, "app.db"));
    const line = await failWith({ DATABASE_URL: "file:./app.db" }, folder.path);
    expect(line).toMatch(/^cannot prepare the database file:\.\/app\.db: /);
  });

  it("says that the database cannot be opened, and leaves it as it is: a file of something else", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, "app.db"), "this is a letter to my aunt, not a database\n".repeat(100));
    const line = await failWith({ DATABASE_URL: "file:./app.db" }, folder.path);
    expect(line).toMatch(/^cannot prepare the database file:\.\/app\.db: .*not a database/);
    expect(await readdir(folder.path)).toEqual(["app.db"]);
  });

  it("says that PostgreSQL cannot be reached, without its password", async () => {
    await using folder = await temporaryFolder();
    const line = await failWith({ DATABASE_URL: "postgresql://app:secret@localhost:1/app" }, folder.path);
    expect(line).toMatch(/^cannot prepare the database postgresql:\/\/app:\*\*\*@localhost:1\/app: .*ECONNREFUSED/);
  });

  it("says that the database was changed by another version", async () => {
    await using folder = await temporaryFolder();
    await using server = await startServer({}, folder.path);
    await server.ready;
    server.kill("SIGTERM");
    await server.ended;
    const connection = openSQLite(`file:${folder.path}/dev.db`);
    connection.exec(`UPDATE "_prisma_migrations" SET checksum = 'x'`);
    connection.close();
    expect(await failWith({}, folder.path)).toMatch(/was changed after it had been applied$/);
  });
});
