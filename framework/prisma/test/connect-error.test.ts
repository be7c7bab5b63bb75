import { exec } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "pg";
import { ConnectError } from "../src/index.js";
import { connectErrorOf } from "../src/postgresql.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { openClient } from "./_clients.js";

async function messageOf(url: string): Promise<string> {
  const error = await openClient(url, { waitMs: 20_000 }).catch((reason: unknown) => reason);
  return error instanceof ConnectError ? error.message : `no ConnectError: ${String(error)}`;
}

describe("PostgreSQL that rejects the credentials", () => {
  it.each([
    [
      "nobody listens",
      "postgresql://app:secret@localhost:1/app",
      /^PostgreSQL, host localhost, port 1: connect ECONNREFUSED .*: start the server with (?:sudo systemctl|brew services) start/,
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
  ])("is reported with a command that fixes it: %s %s", (code, text, command) => {
    const client = new Client("postgresql://o'brien@db.example:5433/shop");
    const { message } = connectErrorOf(client, Object.assign(new Error(text), { code }));
    expect(message).toContain(`PostgreSQL, host db.example, port 5433: ${text}. `);
    expect(message).toContain(` with ${command}, or `);
  });
});

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

describeWithCluster(`a database that is missing${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await startCluster()));
  afterAll(async () => cluster[Symbol.asyncDispose]());

  it("is named with the command that makes it, and that makes it", async () => {
    const url = new URL(cluster.url);
    url.pathname = `/missing-${randomUUID()}`;
    const message = await messageOf(url.href);
    expect(message).toContain(
      `database "${url.pathname.slice(1)}" does not exist. Create the database with createdb -h `,
    );
    await promisify(exec)(/(createdb .*), or correct the URL$/.exec(message)?.[1] ?? "");
    const db = await openClient(url.href);
    expect(await db.user.count()).toBe(0);
    await db.$disconnect();
  });
});
