import { exec } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";
import { Client } from "pg";

import { ConnectError } from "../../src/connect-error.js";
import { migrate } from "../../src/database/migrations.js";
import { connect } from "../../src/database/postgresql-connect.js";
import { queryPostgreSQL } from "../support/databases.js";
import { findPostgreSQL } from "../support/find-postgresql.js";
import { isInstalled } from "../support/redis-server.js";

async function messageOf(url: string): Promise<string> {
  const error = await migrate({ url, waitMs: 2_000, poolSize: 1 }).catch((reason: unknown) => reason);
  return error instanceof ConnectError ? error.message : `no ConnectError: ${String(error)}`;
}

/** What a server answers to a connection that it does not let in. */
async function messageFor(code: string, text: string): Promise<string> {
  const client = new Client("postgresql://o'brien@db.example:5433/shop");
  client.connect = () => Promise.reject(Object.assign(new Error(text), { code }));
  return connect(client).then(
    () => "connected",
    (error: Error) => error.message,
  );
}

describe("PostgreSQL that lets nobody in", () => {
  it.each([
    [
      "nobody listens",
      "postgresql://app:secret@localhost:1/app",
      /^PostgreSQL, host localhost, port 1: connect ECONNREFUSED .*: start it with (?:sudo systemctl|brew services) start/,
    ],
    [
      "there is no such host",
      "postgresql://app:secret@nowhere.invalid/app",
      /^PostgreSQL, host nowhere\.invalid, port 5432: getaddrinfo .* getent hosts nowhere\.invalid$/,
    ],
  ])("is named with host, port, what failed and a command: %s", async (_, url, expected) => {
    const message = await messageOf(url);
    expect(message).toMatch(expected);
    expect(message).not.toContain("secret");
  });

  it.each([
    [
      "28000",
      `role "o'brien" does not exist`,
      String.raw`createuser -h db.example -p 5433 -U postgres --pwprompt 'o'\''brien'`,
    ],
    ["28000", "no pg_hba.conf entry for host", "pg_isready -h db.example -p 5433"],
    [
      "28P01",
      "password authentication failed",
      String.raw`psql -h db.example -p 5433 -U postgres -c '\password o'\''brien'`,
    ],
    ["53300", "sorry, too many clients already", "psql -h db.example -p 5433 -U postgres -c 'TABLE pg_stat_activity'"],
    ["", "timeout expired", "pg_isready -h db.example -p 5433"],
  ])("is mended with a command for each answer: %s %s", async (code, text, command) => {
    const message = await messageFor(code, text);
    expect(message).toContain(`PostgreSQL, host db.example, port 5433: ${text}. `);
    expect(message).toContain(` with ${command}, or `);
  });

  it("names the command that makes a database which is missing, and that makes it", async () => {
    const server = await findPostgreSQL();
    if (server === null || !isInstalled("createdb")) {
      console.warn("There is no PostgreSQL with createdb, so no database was made.");
      return;
    }
    const url = new URL(server);
    url.pathname = `/missing-${randomUUID()}`;
    const message = await messageOf(url.href);
    expect(message).toContain(
      `database "${url.pathname.slice(1)}" does not exist. Create the database with createdb -h `,
    );
    await promisify(exec)(/(createdb .*), or correct DATABASE_URL$/.exec(message)![1]!);
    expect(await migrate({ url: url.href, waitMs: 2_000, poolSize: 1 })).not.toEqual([]);
    await queryPostgreSQL(server, `DROP DATABASE "${url.pathname.slice(1)}"`);
  });
});
