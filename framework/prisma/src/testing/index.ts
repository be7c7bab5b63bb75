/**
 * `@tsgi/prisma/testing`: a sandbox for tests. Each process has a copy of the database, and each test a transaction that is
 * rolled back. Import it in tests only.
 *
 * @module
 */
import type { Marker } from "tsgi";
import { prismaError } from "../errors.js";
import { Sandbox, type SandboxOptions } from "./sandbox.js";

export type { SandboxJob } from "./jobs.js";
export type { Sandbox, SandboxOptions, SandboxTarget } from "./sandbox.js";

/** The sandbox of this process; `null` without one. */
let current: { readonly opened: Promise<Sandbox> } | null = null;

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
  if (current !== null) throw prismaError("TSGI_SANDBOX_OPEN");
  const opened = Sandbox.open(database, options);
  const own = (current = { opened });
  try {
    return await opened;
  } catch (error) {
    if (current === own) current = null;
    throw error;
  }
}

/**
 * Closes the sandbox of this process, and removes its copy of the database.
 *
 * @example
 * ```ts
 * import { after } from "node:test";
 * import { closeSandboxes } from "@tsgi/prisma/testing";
 *
 * after(() => closeSandboxes());
 * ```
 */
export async function closeSandboxes(): Promise<void> {
  const closing = current;
  current = null;
  const sandbox = await closing?.opened.catch(() => null);
  await sandbox?.close();
}
