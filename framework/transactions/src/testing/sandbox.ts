/** A database for tests, whose changes are rolled back. @module */
import { type App, DependencyOverrides, type Marker } from "tsgi";
import { consoleLogger, guardLogger, isDependency, MAX_TIMER_MS, WorkScope } from "tsgi/internals";
import { transactionError } from "../errors.js";
import { type JobsControl, type JobStatements, SandboxJobs, type SandboxJob } from "./jobs.js";

/** An App, or the `Jobs` of a program. */
export interface SandboxTarget {
  readonly dependencyOverrides: DependencyOverrides;
  readonly addMiddleware?: App["addMiddleware"];
}

/** Keeps the copy of a database, with one transaction. */
export interface SandboxConnection<Client> extends JobStatements {
  /** Opens the copy. @param open - Opens the database as the application does. */
  open(open: () => Promise<Client>): Promise<Client>;
  /** Runs a request, or a job: it continues inside the transaction that it begins. */
  enter<T>(work: () => T): T;
  rollBack(): Promise<void>;
  /** Returns the connection, so that the client can disconnect. */
  end(): Promise<void>;
  /** Removes the copy. */
  close(): Promise<void>;
}

type Entering = Pick<SandboxConnection<unknown>, "enter">;

/** The sandboxes of Apps: a middleware cannot be removed, so each App has one, which looks here. */
const followed = new WeakMap<App, { connection: Entering | null }>();

/** Lets each request of an App, and of those mounted in it, continue inside its transaction. @returns Ends it. */
function follow(app: App, connection: Entering): () => void {
  let place = followed.get(app);
  if (place === undefined) {
    const added = (place = { connection: null });
    followed.set(app, added);
    app.addMiddleware(
      (inner) =>
        (...call) =>
          enter(added, call[0], () => inner(...call)),
    );
  }
  const own = place;
  own.connection = connection;
  return () => {
    own.connection = null;
  };
}

/** The lifespan is not a request: it continues after the test. */
function enter<T>({ connection }: { connection: Entering | null }, { type }: { type: string }, work: () => T): T {
  return connection === null || type === "lifespan" ? work() : connection.enter(work);
}

/** Registered: the `Jobs` of any copy of `@tsgi/jobs` have it. */
const JOBS: unique symbol = Symbol.for("tsgi.jobs");

/** The options of `openSandbox`. */
export interface SandboxOptions {
  /** The App that uses the sandbox. `sandbox.use` adds others. */
  app?: SandboxTarget;
}

/** A copy of a database, with one transaction for each test. */
export class Sandbox<Client = unknown> {
  /** The client of the sandbox, for rows that a test needs. */
  readonly db: Client;
  readonly #callable: Parameters<DependencyOverrides["set"]>[0];
  readonly #connection: SandboxConnection<Client>;
  readonly #jobs: SandboxJobs;
  readonly #scope: WorkScope;
  /** Undo what `use` has changed. */
  readonly #undo: (() => void)[] = [];

  /** @internal */
  static async open<Client>(
    database: Marker<Client>,
    options: SandboxOptions,
    connection: SandboxConnection<Client>,
  ): Promise<Sandbox<Client>> {
    const overrides = options.app?.dependencyOverrides ?? new DependencyOverrides();
    const scope = new WorkScope({}, overrides, guardLogger(consoleLogger));
    try {
      const work = scope.add(async ({ client }: { client: Client }) => client, { client: database }, "openSandbox()");
      const client = await connection.open(async () => (await work.run({}, new AbortController().signal)) as Client);
      const sandbox = new Sandbox(client, Reflect.get(database, "callable") as never, connection, scope);
      if (options.app !== undefined) sandbox.use(options.app);
      return sandbox;
    } catch (error) {
      await scope.close();
      await connection.close();
      throw error;
    }
  }

  private constructor(
    db: Client,
    callable: Parameters<DependencyOverrides["set"]>[0],
    connection: SandboxConnection<Client>,
    scope: WorkScope,
  ) {
    this.db = db;
    this.#callable = callable;
    this.#connection = connection;
    this.#scope = scope;
    this.#jobs = new SandboxJobs(connection, (work) => connection.enter(work));
  }

  /** Uses the sandbox instead of the database, in an App or in the `Jobs` of a program, before or after its start. */
  use(target: SandboxTarget): void {
    const { dependencyOverrides: overrides } = target;
    const before = overrides.get(this.#callable);
    overrides.set(this.#callable, async () => this.db);
    this.#undo.push(() => {
      if (before === undefined) overrides.delete(this.#callable);
      else overrides.set(this.#callable, before);
    });
    const control = Reflect.get(target, JOBS) as JobsControl | undefined;
    if (control !== undefined) this.#undo.push(this.#jobs.take(control));
    else if (target.addMiddleware !== undefined) this.#undo.push(follow(target as App, this.#connection));
  }

  /** Ends a test: undoes all changes since the last call. */
  async rollback(): Promise<void> {
    await this.#connection.rollBack();
  }

  /** The jobs that were enqueued and have not run, in the order in which they were enqueued. */
  async jobs(): Promise<SandboxJob[]> {
    return this.#jobs.list();
  }

  /**
   * Runs the jobs that wait, and those that they enqueue, one at a time.
   *
   * @throws the error of a job that fails. It still waits, like those after it.
   */
  async runJobs(): Promise<void> {
    await this.#jobs.run();
  }

  /** @internal */
  async close(): Promise<void> {
    // The connections of a sandbox do not keep the process alive, which would end here.
    const alive = setInterval(() => {}, MAX_TIMER_MS);
    try {
      for (const undo of this.#undo.splice(0).toReversed()) undo();
      await this.#connection.end();
      await this.#scope.close(); // disconnects the client, as the dependency does when the application stops
      await this.#connection.close();
    } finally {
      clearInterval(alive);
    }
  }
}

/** The sandbox of this process; `null` without one. */
let current: { readonly opened: Promise<{ close(): Promise<void> }> } | null = null;

/** Tells if a database can be replaced by its copy. */
export function isApplicationScoped(database: unknown): boolean {
  return isDependency(database) && Reflect.get(Object(database) as object, "scope") === "app";
}

/** Opens the sandbox of this process. @throws ConfigurationError if there is one. */
export async function openOnly<Client>(
  database: Marker<Client>,
  options: SandboxOptions,
  connection: SandboxConnection<Client>,
): Promise<Sandbox<Client>> {
  if (current !== null) throw transactionError("TSGI_SANDBOX_OPEN");
  const opened = Sandbox.open(database, options, connection);
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
 * import { closeSandboxes } from "@tsgi/transactions/testing";
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
