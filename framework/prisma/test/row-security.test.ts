import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { Depends } from "tsgi";
import { transactionOf } from "../src/index.js";
import { EXAMINE, type Examined, examineRowSecurity } from "../src/row-security.js";
import { openedOf } from "../src/transaction.js";
import { closeSandboxes, openSandbox, type Sandbox } from "../src/testing/index.js";
import { Project } from "../../cli/test/_project.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { clientFileOf, openClient, openTables, queryPostgreSQL } from "./_clients.js";
import { openNotes, raw } from "./_tenants.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

/** An application whose migrations cannot be applied: their folder does not exist. */
const APP = `import { App, Depends } from "tsgi";
import { openPrisma, transactionOf } from "@tsgi/prisma";
async function* openDatabase() {
  const migrations = new URL("./absent/", import.meta.url);
  const db = await openPrisma({ url: process.env.DATABASE_URL, postgresql: () => import(process.env.CLIENT), migrations });
  yield db;
  await db.$disconnect();
}
const transaction = transactionOf(Depends(openDatabase, { scope: "app" }), { role: process.env.ROLE });
export const app = new App();
app.get("/", { params: { tx: Depends(transaction) } }, async () => 1);
`;

type Notes = Awaited<ReturnType<typeof openNotes>>;

/** The findings for a role, or for the connection's user. */
async function examine({ db }: Pick<Notes, "db">, role?: string | object): Promise<string[]> {
  const opened = openedOf(db);
  if (opened === null) throw new Error("the client is not opened");
  const signs = { ok: "✓", note: "!", fault: "✗" };
  return (await examineRowSecurity(opened, db, role)).map(({ mark, text }) => `${signs[mark]} ${text}`);
}

/** Runs statements as the owner, in the schema of the notes. */
async function alter({ db, schema }: Notes, ...statements: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    await raw(tx).$executeRawUnsafe(`SET LOCAL search_path TO "${schema}"`);
    for (const statement of statements) await raw(tx).$executeRawUnsafe(statement);
  });
}

describeWithCluster(`the check of a role${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  let notes: Notes;
  let sandbox: Sandbox;
  beforeAll(async () => {
    const open = async () => {
      notes = await openNotes(cluster.url);
      await alter(notes, `GRANT SELECT, INSERT, UPDATE ON "tsgi_idempotency" TO "${notes.role}"`);
      return notes.db;
    };
    sandbox = await openSandbox(Depends(open, { scope: "app" }));
  }, 30_000);
  afterEach(() => sandbox.rollback());
  afterAll(() => closeSandboxes());

  it("finds a role to which the policies apply", async () => {
    expect(await examine(notes, notes.role)).toEqual([`✓ policies of "note" apply to "${notes.role}"`]);
  });

  it("finds a user who is a superuser, and has no role", async () => {
    expect(await examine(notes)).toEqual([
      '✗ the user "test" is a superuser, so no policy applies. Connect as another user, or use the option role.',
    ]);
  });

  it.each<[what: string, statements: (notes: Notes) => string[], found: (notes: Notes) => string]>([
    [
      "BYPASSRLS",
      ({ role }) => [`ALTER ROLE "${role}" BYPASSRLS`],
      ({ role }) => `✗ the role "${role}" has BYPASSRLS, so no policy applies. Use another role.`,
    ],
    [
      "the owner of a table",
      ({ role }) => [`ALTER TABLE "note" OWNER TO "${role}"`],
      ({ role }) =>
        `✗ "${role}" owns "note", so its policies do not apply: ALTER TABLE "note" FORCE ROW LEVEL SECURITY.`,
    ],
    [
      "a member of the owner",
      ({ role }) => [
        `CREATE ROLE "owner_${role}"`,
        `ALTER TABLE "note" OWNER TO "owner_${role}"`,
        `GRANT "owner_${role}" TO "${role}"`,
      ],
      ({ role }) =>
        `✗ "${role}" owns "note", so its policies do not apply: ALTER TABLE "note" FORCE ROW LEVEL SECURITY.`,
    ],
    [
      "policies of a table that does not apply them",
      () => [`ALTER TABLE "note" DISABLE ROW LEVEL SECURITY`],
      () => '✗ the policies of "note" have no effect: ALTER TABLE "note" ENABLE ROW LEVEL SECURITY.',
    ],
    [
      "a missing grant",
      ({ role }) => [`REVOKE ALL ON "note" FROM "${role}"`],
      ({ role }) => `✗ "${role}" lacks a grant: GRANT SELECT, INSERT, UPDATE, DELETE ON "note" TO "${role}".`,
    ],
    [
      "a grant to read only",
      ({ role }) => [`REVOKE INSERT, UPDATE, DELETE ON "note" FROM "${role}"`],
      ({ role }) => `! "${role}" lacks a grant: GRANT INSERT, UPDATE, DELETE ON "note" TO "${role}".`,
    ],
    [
      "a missing grant for a sequence",
      ({ role }) => [`REVOKE ALL ON SEQUENCE "note_id_seq" FROM "${role}"`],
      ({ role }) => `✗ "${role}" lacks a grant: GRANT USAGE ON SEQUENCE "note_id_seq" TO "${role}".`,
    ],
    [
      "a missing grant for the schema",
      ({ role, schema }) => [`REVOKE ALL ON SCHEMA "${schema}" FROM "${role}", PUBLIC`],
      ({ role, schema }) => `✗ the role "${role}" lacks a grant: GRANT USAGE ON SCHEMA "${schema}" TO "${role}".`,
    ],
    [
      "a missing grant for stored responses",
      ({ role }) => [`REVOKE ALL ON "tsgi_idempotency" FROM "${role}"`],
      ({ role }) => `✗ "${role}" lacks a grant: GRANT SELECT, INSERT, UPDATE ON "tsgi_idempotency" TO "${role}".`,
    ],
    [
      "a schema without policies",
      () => [`DROP POLICY "tenant" ON "note"`],
      ({ schema }) => `! no table of the schema "${schema}" has a policy.`,
    ],
  ])("finds %s", async (_, statements, found) => {
    await alter(notes, ...statements(notes));
    expect(await examine(notes, notes.role)).toEqual([found(notes)]);
  });

  it("accepts the owner if the table forces its policies", async () => {
    await alter(notes, `ALTER TABLE "note" OWNER TO "${notes.role}"`, `ALTER TABLE "note" FORCE ROW LEVEL SECURITY`);
    expect(await examine(notes, notes.role)).toEqual([`✓ policies of "note" apply to "${notes.role}"`]);
  });

  it("finds a role that the user cannot set, and one that does not exist", async () => {
    await using own = await openNotes(cluster.url);
    const user = `user_${own.role}`;
    await queryPostgreSQL(cluster.url, `CREATE ROLE "${user}" LOGIN`);
    const url = new URL(own.url);
    url.username = user;
    const db = await openClient(url.href, {}, { isMigrated: false });
    expect(await examine({ db }, own.role)).toEqual([
      `✗ the connection's user cannot set the role "${own.role}": GRANT "${own.role}" TO the user.`,
    ]);
    expect(await examine({ db }, "absent")).toEqual(['✗ the role "absent" does not exist: CREATE ROLE "absent".']);
    await db.$disconnect();
  });

  it("says that it cannot check a role of the request", async () => {
    expect(
      await examine(
        notes,
        Depends(async () => "x"),
      ),
    ).toEqual([expect.stringMatching(/^! the role .* depends on/)]);
  });

  it("is a part of tsgi doctor, which does not migrate", async () => {
    await using own = await openNotes(cluster.url);
    await using project = await Project.create({ "app.js": APP });
    const env = { DATABASE_URL: own.url, ROLE: own.role, CLIENT: await clientFileOf("postgresql") };
    const { code, stdout } = await project.start(["doctor"], env).ended;
    expect(stdout).toContain(`✓ row security  policies of "note" apply to "${own.role}"`);
    expect(code).toBe(0);
    const failed = await project.start(["doctor"], { ...env, ROLE: "absent" }).ended;
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('✗ row security  the role "absent"')]);
    const away = { ...env, DATABASE_URL: "postgresql://nobody@127.0.0.1:1/absent" };
    expect((await project.start(["doctor"], away).ended).stdout).toContain("✗ database");
  });
});

describe("the check of a transaction", () => {
  it("exists only if there are locals or a role", () => {
    const database = Depends(async () => null as never, { scope: "app" });
    const checkOf = (options: object) => Reflect.get(transactionOf(database, options), EXAMINE) as Examined | undefined;
    expect(checkOf({ role: "tenant" })?.params).toEqual({ database });
    expect(checkOf({})).toBeUndefined();
  });

  it("reports SQLite", async () => {
    await using tables = await openTables();
    expect(await examine(tables)).toEqual([expect.stringMatching(/^✗ .*SQLite/)]);
  });
});
