/** The checks of `tsgi doctor` on jobs. They only read: no table is created. @module */
import type { Db } from "pg-boss";
import { describeError, plural } from "tsgi/internals";
import type { EventDeclaration, JobsCheck, JobsFinding } from "./control.js";
import { loadPgBoss } from "./library.js";
import type { StoreSettings } from "./store.js";

/** Registered: while `tsgi doctor` runs, the global object has a list of checks, which any copy of a package can add to. */
const EXAMINE: unique symbol = Symbol.for("tsgi.doctor");

const finding = (mark: JobsFinding["mark"], subject: string, text: string): JobsFinding => ({ mark, subject, text });

/** The jobs of a program, as the checks see them. */
export interface ExaminedJobs {
  /** `null` if jobs are inline. */
  readonly store: StoreSettings | null;
  readonly events: readonly EventDeclaration[];
  /** The checks of other packages. */
  readonly checks: readonly JobsCheck[];
}

/** Lets `tsgi doctor` examine jobs, if it runs in this process. */
export function examineLater(jobs: () => ExaminedJobs): void {
  const checks: unknown = Reflect.get(globalThis, EXAMINE);
  if (Array.isArray(checks)) checks.push(() => examine(jobs()));
}

async function examine({ store, events, checks }: ExaminedJobs): Promise<readonly JobsFinding[]> {
  if (store !== null) return examineStored(store, events, checks);
  const others = await Promise.all(checks.map((check) => check(null)));
  return [checkInline(), ...others.flat()];
}

function checkInline(): JobsFinding {
  if (process.env["NODE_ENV"] !== "production") return finding("ok", "jobs", "run inline, in this process");
  const text =
    "run inline, with NODE_ENV=production: jobs are lost when the process ends. Write new Jobs({ url }), and start a worker.";
  return finding("note", "jobs", text);
}

async function examineStored(
  store: StoreSettings,
  events: readonly EventDeclaration[],
  checks: readonly JobsCheck[],
): Promise<readonly JobsFinding[]> {
  const { PgBoss } = await loadPgBoss();
  const only = { migrate: false, supervise: false, schedule: false, registerInstance: false };
  const connection = { connectionString: store.url, schema: store.schema, connectionTimeoutMillis: 5_000 };
  const boss = new PgBoss({ ...connection, ...only, openTelemetry: { enabled: false } });
  boss.on("error", () => {}); // a statement below fails, too
  try {
    await boss.start().catch(() => {}); // without its tables it does not start, but it is connected
    const db = boss.getDb();
    const tables = await readTables(db, store.schema);
    const subscribers = tables.hasSubscriptions ? await checkSubscribers(db, store, events) : [];
    const others = await Promise.all(
      checks.map((check) => check((text, values = []) => db.executeSql(text, [...values]))),
    );
    return [checkTables(tables, store.schema), ...subscribers, ...others.flat()];
  } catch (error) {
    const { code, message } = describeError(error);
    return [finding("fault", "jobs", `the database cannot be read: ${message || code}`)];
  } finally {
    await boss.stop({ graceful: false }).catch(() => {});
  }
}

interface Tables {
  readonly hasTables: boolean;
  readonly hasSubscriptions: boolean;
  readonly mayCreate: boolean;
  readonly user: string;
}

async function readTables(db: Db, schema: string): Promise<Tables> {
  const { rows } = await db.executeSql(
    `SELECT to_regclass($1 || '.version') IS NOT NULL AS "hasTables", current_user AS "user",
       to_regclass($1 || '.tsgi_subscription') IS NOT NULL AS "hasSubscriptions",
       coalesce(has_schema_privilege(to_regnamespace($1)::oid, 'CREATE'),
         has_database_privilege(current_database(), 'CREATE')) AS "mayCreate"`,
    [schema],
  );
  return (rows as [Tables])[0];
}

function checkTables({ hasTables, mayCreate, user }: Tables, schema: string): JobsFinding {
  if (hasTables) return finding("ok", "jobs", `stored in the schema ${JSON.stringify(schema)}`);
  const missing = `the schema ${JSON.stringify(schema)} has no tables for jobs`;
  if (mayCreate)
    return finding("note", "jobs", `${missing}. The application and the worker create them when they start.`);
  return finding(
    "fault",
    "jobs",
    `${missing}, and the user ${JSON.stringify(user)} may not create them. Grant CREATE.`,
  );
}

/** Hours after which a job that is due and does not run shows that no worker takes it. */
const LATE_HOURS = 24;

interface Subscriber {
  readonly name: string;
  readonly program: string;
  /** The jobs that no worker has taken. */
  readonly late: number;
}

async function checkSubscribers(
  db: Db,
  { schema, program }: StoreSettings,
  events: readonly EventDeclaration[],
): Promise<readonly JobsFinding[]> {
  const { rows } = await db.executeSql(
    `SELECT name, program, (SELECT count(*)::int FROM ${schema}.job
       WHERE job.name = subscription.name AND state IN ('created', 'retry')
         AND start_after < now() - make_interval(hours => ${LATE_HOURS})) AS late
     FROM ${schema}.tsgi_subscription AS subscription ORDER BY name`,
  );
  const declared = new Set(events.flatMap(({ subscribers }) => subscribers));
  return (rows as Subscriber[]).flatMap((stored) => checkSubscriber(stored, { schema, program, declared }));
}

function checkSubscriber(
  { name, program, late }: Subscriber,
  own: { readonly schema: string; readonly program: string | null; readonly declared: ReadonlySet<string> },
): readonly JobsFinding[] {
  const isOwn = program === own.program;
  if (own.declared.has(name) && !isOwn) {
    const text = `${name} is a subscriber of the program ${JSON.stringify(program)}, so this one cannot start. Rename one of them.`;
    return [finding("fault", "events", text)];
  }
  if (isOwn && !own.declared.has(name)) {
    const text = `${name} is stored, and no longer declared. It gets jobs until a worker without --queues starts.`;
    return [finding("note", "events", text)];
  }
  if (late === 0) return [];
  const remedy = isOwn
    ? "Start a worker."
    : `If it no longer exists, delete its row of ${own.schema}.tsgi_subscription.`;
  const text = `no worker of the program ${JSON.stringify(program)} has taken ${plural(late, "job")} of ${name} within ${LATE_HOURS} hours.`;
  return [finding("note", "events", `${text} ${remedy}`)];
}
