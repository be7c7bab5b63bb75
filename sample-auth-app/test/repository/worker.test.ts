import { execFileSync } from "node:child_process";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { PASSWORD, SECRET_KEY } from "./support/constants.js";
import { temporaryFolder } from "./support/folder.js";
import { queryPostgreSQL } from "./support/databases.js";
import { startCluster, WITHOUT_CLUSTER } from "./support/postgres-cluster.js";
import { startServer, startWorker } from "./support/program.js";
import { startMailCatcher } from "./support/smtp-server.js";

const reason = process.env["TSGI_SLOW"] === undefined ? "only with TSGI_SLOW=1" : WITHOUT_CLUSTER;
const withWorker = reason === null ? describe : describe.skip;

const user = (username: string) => ({ username, email: `${username}@example.com`, password: PASSWORD });

/** Jobs in PostgreSQL need Node.js 22.12. */
function findNode22(): string {
  const script = path.resolve(import.meta.dirname, "../../../framework/scripts/runtimes.js");
  return execFileSync(process.execPath, [script, "node22"]).toString().trim().slice("node22 ".length);
}

withWorker(`a worker on PostgreSQL${reason === null ? "" : ` (${reason})`}`, () => {
  it("sends the mail of a registration that was committed, even if it starts later", async () => {
    const node = findNode22();
    await using cluster = await startCluster();
    await using catcher = await startMailCatcher();
    await using folder = await temporaryFolder();
    const env = { NODE_ENV: "production", SECRET_KEY, DATABASE_URL: cluster.url, SMTP_URL: catcher.url };
    await using server = await startServer(env, folder.path, node);
    const request = supertest(await server.ready);
    await request.post("/users").send(user("alice")).expect(201);
    await request.post("/users").send(user("alice")).expect(409);
    const waiting = await queryPostgreSQL(cluster.url, "SELECT data FROM pgboss.job WHERE name = 'welcome-mail'");
    expect(waiting).toHaveLength(1);
    expect(catcher.mails).toEqual([]);
    await using worker = await startWorker(env, folder.path, node);
    await worker.ready;
    const [mail] = await catcher.received(1);
    expect(mail).toMatchObject({ to: ["alice@example.com"] });
    const schedules = await queryPostgreSQL(cluster.url, "SELECT cron FROM pgboss.schedule");
    expect(schedules).toEqual([{ cron: "17 * * * *" }]);
    worker.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  });
});
