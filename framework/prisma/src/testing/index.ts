/**
 * `@tsgi/prisma/testing`: a sandbox for tests. Each process has a copy of the database, and each test a transaction that is
 * rolled back. Import it in tests only.
 *
 * @module
 */
import type { Marker } from "tsgi";
import { isApplicationScoped, openOnly } from "@tsgi/transactions/testing/internals";
import type { Sandbox, SandboxOptions } from "@tsgi/transactions/testing";
import { prismaError } from "../errors.js";
import { PrismaConnection } from "./connection.js";

export {
  closeSandboxes,
  type Sandbox,
  type SandboxJob,
  type SandboxOptions,
  type SandboxTarget,
} from "@tsgi/transactions/testing";

/**
 * Opens a sandbox: a copy of the database, in which each test is a transaction. The App uses it immediately, before or after
 * its start.
 *
 * @param database - The dependency of a client of `openPrisma`, with scope `"app"` and the option `migrations`.
 * @throws ConfigurationError if this process has a sandbox already, or the database's user cannot create databases.
 * @example
 * ```ts
 * import { after, afterEach } from "node:test";
 * import { type App, Depends } from "tsgi";
 * import { openPrisma, type PrismaOptions } from "@tsgi/prisma";
 * import { closeSandboxes, openSandbox } from "@tsgi/prisma/testing";
 *
 * export async function useSandbox<Client>(app: App, load: NonNullable<PrismaOptions<Client>["sqlite"]>) {
 *   const open = async () => openPrisma({ url: "file:./dev.db", sqlite: load, migrations: "prisma/migrations" });
 *   const sandbox = await openSandbox(Depends(open, { scope: "app" }), { app });
 *   afterEach(() => sandbox.rollback());
 *   after(() => closeSandboxes());
 *   return sandbox;
 * }
 * ```
 */
export async function openSandbox<Client>(
  database: Marker<Client>,
  options: SandboxOptions = {},
): Promise<Sandbox<Client>> {
  if (!isApplicationScoped(database)) throw prismaError("TSGI_SANDBOX_DATABASE");
  return openOnly(database, options, new PrismaConnection<Client>());
}
