/** The checks of jobs and events by `tsgi doctor`. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { Project } from "../../cli/test/_project.js";
import { createDatabase, createLog, describeWithDatabase } from "./_database.js";

/** The lines of the doctor about jobs and events. */
async function examine(source: string, env: NodeJS.ProcessEnv = {}) {
  const app = 'import { App } from "tsgi";\nimport "./jobs.js";\nexport const app = new App();';
  const jobs = `import { Jobs } from "@tsgi/jobs";\n${source}`;
  await using project = await Project.create({ "app.js": app, "jobs.js": jobs });
  const { code, stdout } = await project.start(["doctor"], env).ended;
  return { code, lines: stdout.split("\n").filter((line) => /^. (?:jobs|events) /.test(line)) };
}

describe("tsgi doctor, of inline jobs", () => {
  it.each([
    ["development", "✓ jobs", 1],
    ["production", "! jobs         run inline, with NODE_ENV=production", 1],
  ])("finds the jobs of an imported module, in %s", async (mode, line, count) => {
    const { lines } = await examine("export const jobs = new Jobs({ inline: true });", { NODE_ENV: mode });
    expect(lines).toHaveLength(count);
    expect(lines[0]).toContain(line);
  });
});

const PROGRAM = `
export const jobs = new Jobs({ url: process.env.DATABASE_URL, schema: process.env.DATABASE_SCHEMA, program: "shop" });
const paid = jobs.event("order.paid");
paid.subscribe("receipt", {}, async () => {});
paid.subscribe("stock", {}, async () => {});
`;

describeWithDatabase("tsgi doctor, of jobs in PostgreSQL", () => {
  const database = createDatabase();
  const env = { DATABASE_URL: database.url, DATABASE_SCHEMA: database.schema };

  it("reports missing tables, and does not create them", async () => {
    for (let run = 0; run < 2; run++) {
      const { code, lines } = await examine(PROGRAM, env);
      expect(lines).toEqual([expect.stringContaining(`! jobs         the schema "${database.schema}" has no tables`)]);
      expect(code).toBe(0);
    }
  });

  it("fails if the tables are missing and the user may not create them", async () => {
    const role = `doctor_${randomBytes(6).toString("hex")}`;
    const schema = `${database.schema}_closed`;
    await database.pool.query(
      `CREATE ROLE ${role} LOGIN PASSWORD 'a'; CREATE SCHEMA ${schema}; GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    );
    try {
      const url = new URL(database.url);
      url.searchParams.set("options", `-c role=${role}`);
      const { code, lines } = await examine(PROGRAM, { DATABASE_URL: url.href, DATABASE_SCHEMA: schema });
      expect(lines).toEqual([expect.stringMatching(/^✗ jobs .*may not create them\. Grant CREATE\.$/)]);
      expect(code).toBe(1);
    } finally {
      await database.pool.query(`DROP SCHEMA ${schema}; DROP ROLE ${role}`);
    }
  });

  it("reports a database that is unavailable", async () => {
    const { code, lines } = await examine(PROGRAM, { ...env, DATABASE_URL: "postgresql://nobody@127.0.0.1:1/absent" });
    expect(lines).toEqual([expect.stringMatching(/^✗ jobs +the database cannot be read: .*ECONNREFUSED/)]);
    expect(code).toBe(1);
  });

  it("compares the stored subscribers with the declared ones", async () => {
    for (const [program, ...names] of [
      ["shop", "receipt", "old"],
      ["mailer", "stock", "mail", "gone"],
    ] as const) {
      const jobs = database.open(createLog(), { program });
      const paid = jobs.event("order.paid");
      for (const name of names) paid.subscribe(name, {}, async () => {});
      await paid.publish();
      await jobs.close();
    }
    await database.pool.query(
      `UPDATE ${database.schema}.job SET start_after = now() - interval '2 days' WHERE name = 'order.paid/gone'`,
    );
    const { code, lines } = await examine(PROGRAM, env);
    expect(lines.map((line) => line.replace(/ {2,}/, " "))).toEqual([
      `✓ jobs stored in the schema "${database.schema}"`,
      '! events no worker of the program "mailer" has taken 1 job of order.paid/gone within 24 hours. ' +
        `If it no longer exists, delete its row of ${database.schema}.tsgi_subscription.`,
      "! events order.paid/old is stored, and no longer declared. It gets jobs until a worker without --queues starts.",
      '✗ events order.paid/stock is a subscriber of the program "mailer", so this one cannot start. Rename one of them.',
    ]);
    expect(code).toBe(1);
  });
});
