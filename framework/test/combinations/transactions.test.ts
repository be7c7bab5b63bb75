/** Every pair of the options of `transactionOf`, of clients, and of the ways in which a request ends, against PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, Depends, HTTPException, Request, withParams } from "tsgi";
import { CLIENTS, LEFT, openNotes } from "../../transactions/test/_clients.js";
import { call } from "../support/call.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../support/postgres-cluster.js";
import { makeArray, type Row } from "./_pairs-array.js";

interface Combination extends Row {
  readonly client: string;
  readonly locals: "none" | "one" | "two" | "of the request";
  readonly role: "none" | "named" | "of the request";
  readonly isolation: "none" | "ReadCommitted" | "RepeatableRead" | "Serializable";
  readonly taken: "by the handler" | "by a dependency" | "by both";
  readonly end: "commit" | "error" | "swallowed" | "savepoint" | "invalid locals" | "invalid role";
}

const SPACE = {
  ordinary: {
    client: CLIENTS.map(({ name }) => name),
    locals: ["none", "one", "two", "of the request"],
    role: ["none", "named", "of the request"],
    isolation: ["none", "ReadCommitted", "RepeatableRead", "Serializable"],
    taken: ["by the handler", "by a dependency", "by both"],
    end: ["commit", "error", "swallowed", "savepoint"],
  },
  ends: { end: ["invalid locals", "invalid role"] },
  rules: [
    {
      of: ["locals", "end"],
      allows: (row: Combination) => row.end !== "invalid locals" || row.locals === "of the request",
    },
    { of: ["role", "end"], allows: (row: Combination) => row.end !== "invalid role" || row.role === "of the request" },
  ],
} as const;

const SEEN = `SELECT nullif(current_setting('app.tenant', true), '') AS tenant, nullif(current_setting('app.user', true), '') AS "user",
  current_user::text AS role, current_setting('transaction_isolation') AS isolation`;

const LEVELS: Readonly<Record<Combination["isolation"], string>> = {
  none: "read committed",
  ReadCommitted: "read committed",
  RepeatableRead: "repeatable read",
  Serializable: "serializable",
};

type Notes = Awaited<ReturnType<typeof openNotes>>;

/** The options of a row, and the settings that its transaction has. */
function optionsOf({ locals, role, isolation, end }: Combination, notes: Notes) {
  const given: Readonly<Record<Combination["locals"], Record<string, string>>> = {
    none: {},
    one: { "app.tenant": "acme" },
    two: { "app.tenant": "acme", "app.user": "ada" },
    "of the request": { "app.tenant": "of the header" },
  };
  const fixed = Depends(async () => given[locals]);
  const getLocals = withParams({ request: Request }, async ({ request }) => {
    const tenant = end === "invalid locals" ? null : request.headers["x-tenant"];
    return { "app.tenant": tenant as string };
  });
  const getRole = withParams({ request: Request }, async () => (end === "invalid role" ? "none" : notes.role));
  const options = {
    ...(locals !== "none" && { locals: locals === "of the request" ? Depends(getLocals) : fixed }),
    ...(role !== "none" && { role: role === "named" ? notes.role : Depends(getRole) }),
    ...(isolation !== "none" && { isolation }),
  };
  const seen = {
    tenant: given[locals]["app.tenant"] ?? null,
    user: given[locals]["app.user"] ?? null,
    role: role === "none" ? "test" : notes.role,
    isolation: LEVELS[isolation],
  };
  return { options, seen };
}

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

describeWithCluster(`the options of transactionOf${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  let cluster: Cluster;
  let notes: Notes;
  beforeAll(async () => {
    cluster = await startCluster();
    notes = await openNotes(cluster.url, { max: 1 });
    await notes.pool.query("CREATE TABLE mark (text text); GRANT ALL ON mark TO PUBLIC");
  });
  afterAll(async () => {
    await notes?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  /** Sends the request of a row. @returns The status, the settings in its transaction and after it, and the rows that stay. */
  async function run(row: Combination, index: number) {
    const client = CLIENTS.find(({ name }) => name === row.client);
    if (client === undefined) throw new Error("no client");
    const { options, seen } = optionsOf(row, notes);
    const tx = client.take(notes.database, options);
    const observed: unknown[] = [];
    const use = async (transaction: object) => {
      observed.push(...(await client.rows(transaction, SEEN)));
      await client.rows(transaction, `INSERT INTO mark VALUES ('${index}')`);
    };
    const useEarly = withParams({ tx }, async (args) => use(args.tx));
    const dependencies = row.taken === "by the handler" ? [] : [Depends(useEarly)];
    const app = new App({ logger: notes.log });
    app.post("/", { params: { tx }, dependencies }, async (args) => {
      if (row.taken !== "by a dependency") await use(args.tx);
      const fail = (on: object) => client.rows(on, "SELECT 1 / 0");
      if (row.end === "swallowed") await fail(args.tx).catch(() => null);
      if (row.end === "savepoint")
        await client.nest(args.tx, async (inner) => void (await fail(inner))).catch(() => null);
      if (row.end === "error") throw new HTTPException(409);
    });
    const { status } = await call(app, "POST", "/", { headers: [["x-tenant", "of the header"]] });
    const { rows: left } = await notes.pool.query<object>(LEFT);
    const { rowCount: kept } = await notes.pool.query(`DELETE FROM mark WHERE text = '${index}'`);
    const uses = row.taken === "by both" ? 2 : 1;
    const isInvalid = row.end.startsWith("invalid");
    const isKept = row.end === "commit" || row.end === "savepoint";
    const expected = {
      status: isKept ? 200 : row.end === "error" ? 409 : 500,
      observed: Array.from({ length: isInvalid ? 0 : uses }, () => seen),
      left: [{ tenant: null, isUser: true }],
      kept: isKept ? uses : 0,
    };
    return { found: { row, status, observed, left, kept }, expected: { row, ...expected } };
  }

  it("have no pair that shows another setting, keeps one, or commits a failure", async () => {
    const rows = await makeArray<Combination>(SPACE, { seed: 1 });
    const results = [];
    for (const [index, row] of rows.entries()) results.push(await run(row, index));
    expect(rows.length).toBeGreaterThan(15);
    expect(results.map(({ found }) => found)).toEqual(results.map(({ expected }) => expected));
  }, 60_000);
});
