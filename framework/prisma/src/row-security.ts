/** The check of `tsgi doctor` whether the policies apply to a transaction with `locals` or `role`. @module */
import type { Marker } from "tsgi";
import { schemaOf } from "./driver.js";
import type { RawClient } from "./idempotency-store.js";
import type { OpenedClient } from "./transaction.js";

/** Registered: `tsgi doctor` finds it on dependencies of any copy of this package. */
export const EXAMINE: unique symbol = Symbol.for("tsgi.doctor");

/** One line of `tsgi doctor`. */
export interface Finding {
  readonly mark: "ok" | "note" | "fault";
  readonly subject: string;
  readonly text: string;
}

/** The check of a dependency by `tsgi doctor`, which calls it with the values of the params. */
export interface Examined {
  readonly params: Readonly<Record<string, Marker<unknown>>>;
  readonly examine: (args: { readonly database: unknown }) => Promise<readonly Finding[]>;
}

/** Tells if `tsgi doctor` runs in this process: then no migrations are applied. */
export function isExamining(): boolean {
  return Reflect.has(globalThis, EXAMINE);
}

interface Role {
  readonly name: string;
  readonly isSuperuser: boolean;
  readonly bypasses: boolean;
  readonly canBeSet: boolean;
  readonly canUseSchema: boolean;
}

/** A table that has policies, or `tsgi_idempotency`, which a transaction with an idempotency key uses. */
interface Table {
  readonly name: string;
  readonly hasPolicies: boolean;
  readonly isEnabled: boolean;
  readonly isForced: boolean;
  readonly isOwned: boolean;
  /** The privileges that the role lacks. */
  readonly missing: readonly string[];
  /** The sequences of columns that the role can insert, but not count. */
  readonly sequences: readonly string[];
}

/** To set a role, a user must be a member of it; from PostgreSQL 16 on, with the option `SET`. */
const ROLE = `SELECT r.rolname AS "name", r.rolsuper AS "isSuperuser", r.rolbypassrls AS "bypasses",
  pg_has_role(session_user, r.oid,
    CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) AS "canBeSet",
  coalesce(has_schema_privilege(r.oid, to_regnamespace(quote_ident($2))::oid, 'USAGE'), true) AS "canUseSchema"
FROM pg_roles r WHERE r.rolname = coalesce($1, session_user)`;

/** Policies do not apply to the owner of a table and to roles that inherit from it (PostgreSQL, §5.9). */
const TABLES = `SELECT c.relname AS "name", p.found AS "hasPolicies", c.relrowsecurity AS "isEnabled",
  c.relforcerowsecurity AS "isForced", pg_has_role(r.oid, c.relowner, 'USAGE') AS "isOwned",
  ARRAY(
    SELECT privilege
    FROM unnest(CASE c.relname WHEN 'tsgi_idempotency' THEN ARRAY['SELECT', 'INSERT', 'UPDATE']
      ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END) WITH ORDINALITY AS k (privilege, position)
    WHERE NOT CASE privilege WHEN 'DELETE' THEN has_table_privilege(r.oid, c.oid, privilege)
      ELSE has_any_column_privilege(r.oid, c.oid, privilege) END
    ORDER BY position
  ) AS "missing",
  ARRAY(
    SELECT s.relname::text FROM pg_depend d JOIN pg_class s ON s.oid = d.objid
    WHERE d.refobjid = c.oid AND d.deptype = 'a' AND has_any_column_privilege(r.oid, c.oid, 'INSERT')
      AND CASE s.relkind WHEN 'S' THEN NOT has_sequence_privilege(r.oid, s.oid, 'USAGE') END
    ORDER BY 1
  ) AS "sequences"
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_roles r ON r.rolname = $1
CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid) AS found) p
WHERE n.nspname = $2 AND c.relkind IN ('r', 'p') AND (p.found OR c.relname = 'tsgi_idempotency')
ORDER BY c.relname`;

const SUBJECT = "row security";
const finding = (mark: Finding["mark"], text: string): Finding => ({ mark, subject: SUBJECT, text });

/**
 * Judges the role of a transaction, or the connection's user if it has no role.
 *
 * @param role - The option: the name of a role, a dependency, or `undefined`.
 */
export async function examineRowSecurity(
  { driver, config }: Pick<OpenedClient, "driver" | "config">,
  client: unknown,
  role: string | object | undefined,
): Promise<readonly Finding[]> {
  if (driver.name !== "postgresql") {
    return [finding("fault", "locals and role of transactionOf() need PostgreSQL, and this database is SQLite.")];
  }
  if (typeof role === "object") {
    return [finding("note", "the role of transactionOf() depends on the request, so its privileges are not checked.")];
  }
  const raw = client as RawClient;
  const schema = schemaOf(config.url);
  const [found] = (await raw.$queryRawUnsafe(ROLE, role ?? null, schema)) as Role[];
  if (found === undefined) return [finding("fault", `the role "${role}" does not exist: CREATE ROLE "${role}".`)];
  const tables = (await raw.$queryRawUnsafe(TABLES, found.name, schema)) as Table[];
  const findings = [
    ...judgeRole(found, role !== undefined, schema),
    ...tables.flatMap((one) => [...judge(one, found)]),
  ];
  const guarded = tables.filter(({ hasPolicies }) => hasPolicies).map(({ name }) => name);
  if (guarded.length === 0) return [...findings, finding("note", `no table of the schema "${schema}" has a policy.`)];
  const text = `policies of ${guarded.map((name) => `"${name}"`).join(", ")} apply to "${found.name}"`;
  return findings.length > 0 ? findings : [finding("ok", text)];
}

function* judgeRole(role: Role, isOption: boolean, schema: string): Generator<Finding> {
  const who = `${isOption ? "the role" : "the user"} "${role.name}"`;
  const way = isOption ? "Use another role." : "Connect as another user, or use the option role.";
  if (role.isSuperuser) yield finding("fault", `${who} is a superuser, so no policy applies. ${way}`);
  else if (role.bypasses) yield finding("fault", `${who} has BYPASSRLS, so no policy applies. ${way}`);
  if (isOption && !role.canBeSet) {
    yield finding("fault", `the connection's user cannot set ${who}: GRANT "${role.name}" TO the user.`);
  }
  if (!role.canUseSchema) {
    yield finding("fault", `${who} lacks a grant: GRANT USAGE ON SCHEMA "${schema}" TO "${role.name}".`);
  }
}

function* judge(table: Table, role: Role): Generator<Finding> {
  const { name, missing, sequences } = table;
  if (role.isSuperuser) return;
  if (table.hasPolicies && !table.isEnabled) {
    yield finding(
      "fault",
      `the policies of "${name}" have no effect: ALTER TABLE "${name}" ENABLE ROW LEVEL SECURITY.`,
    );
  } else if (table.hasPolicies && table.isOwned && !table.isForced) {
    const text = `"${role.name}" owns "${name}", so its policies do not apply: ALTER TABLE "${name}" FORCE ROW LEVEL SECURITY.`;
    yield finding("fault", text);
  }
  if (missing.length > 0) {
    // A role may be meant to read only; a table of which it may not use a row is one that was forgotten.
    const mark = missing.length === 4 || !table.hasPolicies ? "fault" : "note";
    yield finding(mark, `"${role.name}" lacks a grant: GRANT ${missing.join(", ")} ON "${name}" TO "${role.name}".`);
  }
  for (const sequence of sequences) {
    yield finding("fault", `"${role.name}" lacks a grant: GRANT USAGE ON SEQUENCE "${sequence}" TO "${role.name}".`);
  }
}
