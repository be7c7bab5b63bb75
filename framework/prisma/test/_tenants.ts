/** Notes of several tenants, guarded by a policy, and an application whose handlers forget the tenant. */
import { randomUUID } from "node:crypto";
import { App, Depends, HTTPException, Request, withParams } from "tsgi";
import { type RequestTransactionOptions, transactionOf } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { createSchema, openClient } from "./_clients.js";

export interface Raw {
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>;
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
}
export const raw = (client: unknown) => client as Raw;

/** The tenant of a request, from a header. */
const getLocals = withParams({ request: Request }, async ({ request }) => {
  const tenant = request.headers["x-tenant"];
  if (tenant === undefined) throw new HTTPException(401);
  return { "app.tenant": tenant };
});
export const locals = Depends(getLocals);

/** The settings that a later request on the same connection sees. */
export const LEFT = `SELECT nullif(current_setting('app.tenant', true), '') AS "tenant", current_user = session_user AS "isUser"`;

const TABLES = (role: string) => [
  `CREATE TABLE "note" ("id" SERIAL PRIMARY KEY, "text" TEXT NOT NULL,
    "tenant" TEXT NOT NULL DEFAULT nullif(current_setting('app.tenant', true), ''))`,
  `CREATE INDEX "note_tenant_idx" ON "note" ("tenant")`,
  `ALTER TABLE "note" ENABLE ROW LEVEL SECURITY`,
  `CREATE POLICY "tenant" ON "note" USING ("tenant" = nullif(current_setting('app.tenant', true), ''))`,
  `CREATE ROLE "${role}"`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON "note" TO "${role}"`,
  `GRANT USAGE ON SEQUENCE "note_id_seq" TO "${role}"`,
];

/** A database with the notes, and an application for it, whose transactions have the role of a tenant. */
export async function openNotes(server: string, options: Parameters<typeof openClient>[1] = {}) {
  const url = createSchema(server);
  const schema = new URL(url).searchParams.get("schema");
  const role = `tenant_${randomUUID().replaceAll("-", "")}`;
  const db = await openClient(url, options);
  await db.transaction(async (tx) => {
    for (const statement of TABLES(role)) await raw(tx).$executeRawUnsafe(statement);
    await raw(tx).$executeRawUnsafe(`GRANT USAGE ON SCHEMA "${schema}" TO "${role}"`);
  });
  const log = new KeptLog();
  const app = new App({ logger: log });
  const database = Depends(async () => db, { scope: "app" });
  const take = <const Options extends RequestTransactionOptions>(given: Options) => transactionOf(database, given);
  return {
    url,
    schema,
    role,
    db,
    log,
    app,
    database,
    take,
    transaction: take({ locals, role }),
    left: () => raw(db).$queryRawUnsafe(LEFT),
    [Symbol.asyncDispose]: () => db.$disconnect(),
  };
}

/** The headers of a tenant's request. */
export const as = (tenant: string) => ({ headers: [["x-tenant", tenant]] as const });
