/**
 * The sample application in a separate process, on databases and a Redis that can be broken without affecting others.
 */
import { rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { tsImport } from "tsx/esm/api";
import { Skipped } from "./outcome.js";
import { Server } from "./server.js";

const SAMPLE = resolve(import.meta.dirname, "../../../sample-auth-app");
const HEADERS = { "Content-Type": "application/json" };

/** A helper of the sample application's own tests, which are in TypeScript. */
const support = (file) => tsImport(join(SAMPLE, "test/repository/support", file), import.meta.url);

/** A separate PostgreSQL: `url`, `start`, `stop`, `freeze`, `thaw`. @throws Skipped if it is not installed */
export async function startPostgreSQL(settings) {
  const { startCluster, WITHOUT_CLUSTER } = await support("postgres-cluster.ts");
  if (WITHOUT_CLUSTER !== null) throw new Skipped(WITHOUT_CLUSTER);
  return stoppedAtExit(await startCluster(settings));
}

/** A separate Redis: `url`, `start`, `stop`, `freeze`, `thaw`. @throws Skipped if it is not installed */
export async function startRedis() {
  const { startRedis: start, WITHOUT_REDIS } = await support("redis-server.ts");
  if (WITHOUT_REDIS !== null) throw new Skipped(WITHOUT_REDIS);
  return stoppedAtExit(await start());
}

/** Processes of a fault injection that timed out end with this process. */
function stoppedAtExit(service) {
  process.once("exit", () => void service.stop());
  return service;
}

/** The program itself, with the given environment. Rejects with an error that has `server` when it ends first. */
export const startSample = (env) =>
  Server.start(
    {},
    {
      file: join(SAMPLE, "dist/server.js"),
      env: { NODE_ENV: "test", HOST: "127.0.0.1", PORT: "0", SECRET_KEY: "k".repeat(48), ...env },
      ready: /^Ready on ([^,\s]+),/m,
    },
  );

/** The sample application with a user who is logged in. Without a `DATABASE_URL` on a separate SQLite file. */
export class Shop {
  static async open(env = {}) {
    const shop = new Shop();
    shop.folder = mkdtempSync(join(tmpdir(), "tsgi-shop-"));
    shop.database = join(shop.folder, "shop.db");
    shop.server = await startSample({ DATABASE_URL: `file:${shop.database}`, ...env });
    await shop.ask("/users", { headers: HEADERS, body: JSON.stringify({ ...ALICE, email: "alice@example.com" }) });
    const { access_token: token } = JSON.parse((await shop.login()).text);
    shop.authorization = `Bearer ${token}`;
    await shop.items();
    return shop;
  }

  /** Requests a path, and returns status, text, `Retry-After` and the duration. A body makes it a POST. */
  async ask(path, options = {}) {
    const startedAt = performance.now();
    const method = options.body === undefined ? "GET" : "POST";
    const answer = await fetch(`${this.server.url}${path}`, { method, ...options });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      retryAfter: answer.headers.get("retry-after"),
      ms: performance.now() - startedAt,
    };
  }

  login(form = ALICE) {
    return this.ask("/auth/token", { body: new URLSearchParams(form) });
  }

  items() {
    return this.ask("/items", { headers: { authorization: this.authorization } });
  }

  addItem(name) {
    const headers = { ...HEADERS, authorization: this.authorization };
    return this.ask("/items", { headers, body: JSON.stringify({ name }) });
  }

  async close() {
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const ALICE = { username: "alice", password: "correct horse battery staple" };
