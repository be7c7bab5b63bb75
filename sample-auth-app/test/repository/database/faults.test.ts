import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openPrisma } from "@tsgi/prisma";

import { openApp } from "../support.js";
import { PASSWORD } from "../support/constants.js";
import { createFile, createSchema } from "../support/databases.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../support/postgres-cluster.js";

/** Another process's client, which takes SQLite's lock for as long as its work lasts. */
async function lockWhile(url: string, work: () => Promise<void>): Promise<void> {
  const other = await openPrisma({ url, sqlite: () => import("../../../src/generated/sqlite/client.js") });
  await other.$transaction(work, { timeout: 60_000 });
  await other.$disconnect();
}

const user = (username: string) => ({ username, email: `${username}@example.com`, password: PASSWORD });

describe("SQLite that another process has locked", () => {
  it("is waited for: writes meanwhile all succeed, and reads do not wait", async () => {
    await using file = await createFile();
    await using app = await openApp({ env: { DATABASE_URL: file.url }, waitMs: 6_000 });
    await app.register();
    const { token } = await app.login();
    const writes: Promise<{ status: number }>[] = [];
    await lockWhile(file.url, async () => {
      writes.push(
        ...["bob", "carol"].map((name) =>
          app.request
            .post("/users")
            .send(user(name))
            .then((answer) => answer),
        ),
      );
      await app.request.get("/items").auth(token, { type: "bearer" }).expect(200);
    });
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([201, 201]);
  });

  it("results in 503 with Retry-After if it stays locked, and is used again afterwards", async () => {
    await using file = await createFile();
    await using app = await openApp({ env: { DATABASE_URL: file.url }, waitMs: 20 });
    await lockWhile(file.url, async () => {
      const response = await app.request.post("/users").send(user("alice"));
      expect([response.status, response.body]).toEqual([503, { detail: "Service Unavailable" }]);
      expect(response.get("Retry-After")).toBe("1");
    });
    await app.request.post("/users").send(user("alice")).expect(201);
  });
});

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

describeWithCluster(`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await startCluster()));
  afterAll(async () => cluster[Symbol.asyncDispose]());

  it("results in 503 with Retry-After if it is stopped or hangs, and is used again when it is available", async () => {
    const { url } = await createSchema(cluster.url);
    await using app = await openApp({ env: { DATABASE_URL: url }, waitMs: 2_000 });
    await app.register();
    const { token } = await app.login();
    const read = () => app.request.get("/items").auth(token, { type: "bearer" }).timeout(5_000);
    for (const [breakIt, mendIt] of [
      [async () => cluster.stop(), async () => cluster.start()],
      [async () => cluster.freeze(), async () => cluster.thaw()],
    ] as const) {
      await breakIt();
      const answers = await Promise.all(Array.from({ length: 10 }, read));
      const notReady = await app.request.get("/ready");
      await mendIt();
      expect(answers.map(({ status, body }) => [status, body])).toEqual(
        answers.map(() => [503, { detail: "Service Unavailable" }]),
      );
      expect(answers.map((answer) => answer.get("Retry-After"))).toEqual(Array(10).fill("1"));
      expect([notReady.status, notReady.body.status]).toEqual([503, "unavailable"]);
      expect(app.lines.join()).toContain("UnavailableError");
      while ((await read()).status !== 200);
    }
  });
});
