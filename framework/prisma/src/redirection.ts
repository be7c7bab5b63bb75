/** The way by which a sandbox, or a check, changes the database that an application opens. @module */
import { AsyncLocalStorage } from "node:async_hooks";
import type { AdapterFactory, DatabaseConfig, Driver } from "./driver.js";
import { isExamining } from "./row-security.js";
import type { OpenedClient } from "./transaction.js";

/** A database that is opened. */
export interface Opening {
  readonly driver: Driver;
  readonly config: DatabaseConfig;
  /** The folder of the migrations to apply, or `null`. */
  readonly migrations: string | null;
}

/** Replaces parts of a client that `openPrisma` opens. */
export interface Redirection {
  /** Returns the database to open instead. */
  prepare(opening: Opening): Promise<Opening>;
  adapt(factory: AdapterFactory): AdapterFactory;
  /** @param client - The client of Prisma, without extensions. */
  extend<Client extends object>(client: Client): Client;
  replace(opened: OpenedClient): OpenedClient;
}

/** Opens the database itself. `tsgi doctor` does not apply its migrations. */
const DIRECT: Redirection = {
  prepare: async (opening) => (isExamining() ? { ...opening, migrations: null } : opening),
  adapt: (factory) => factory,
  extend: (client) => client,
  replace: (opened) => opened,
};

const redirections = new AsyncLocalStorage<Redirection>();

/** Redirects the databases that `work` opens. */
export function redirecting<T>(redirection: Redirection, work: () => Promise<T>): Promise<T> {
  return redirections.run(redirection, work);
}

/** The redirection of the caller. */
export function currentRedirection(): Redirection {
  return redirections.getStore() ?? DIRECT;
}
