/** Startup and shutdown: hooks, lifespan functions, mounted applications, dependencies of scope `"app"`. @module */
import type { LifespanResponseMessage, LifespanScope, Receive, Send } from "../protocol/asgi.js";
import type { ApplicationScope, Lifetime } from "../parameters/dependencies/application.js";
import type { DependencyOverrides } from "../parameters/dependencies/overrides.js";
import { configurationError } from "../common/exceptions.js";
import { unlessAborted } from "../common/promises.js";
import { ABANDONED, type ReportingScope, TAKES_ERRORS } from "../protocol/lifespan.js";
import { errorCodeOf, errorText, type Logger } from "../common/logger.js";

/** The cleanup that a startup hook may return. */
type Cleanup = () => unknown;

/** Runs when the application starts or stops, and gets the App. */
export type LifespanHook<A> = (app: A) => unknown;

/** Startup before the `yield`, shutdown after it. The value that it yields is added to the state of every scope. */
export type LifespanFunction<A> = (app: A) => AsyncGenerator<Record<string, unknown> | void, void, unknown>;

/** @throws ConfigurationError for what cannot be called at startup or shutdown, naming who was given it. */
export function assertHook(name: string, hook: unknown): void {
  if (typeof hook === "function") return;
  throw configurationError("TSGI_HOOK_NOT_A_FUNCTION", name, hook);
}

/** The extension with which a test client marks its scopes. */
const TESTING = "tsgi.testing";

/** The outer App's part in the start of a mounted App. */
export interface OuterLifespan {
  readonly lifetime: Lifetime;
  /** The overrides of the Apps around it, outermost first. */
  readonly overrides: readonly DependencyOverrides[];
}

/** The circumstances of a start. */
export interface StartOptions {
  /** `true` if a test client serves it. */
  readonly isTested?: boolean;
  /** The lifespan that starts it, if it is mounted. */
  readonly outer?: OuterLifespan;
  /** Aborts when the startup is to be undone instead of completed. */
  readonly signal?: AbortSignal | null;
}

/** An object with its own lifetime, which an application can mount. */
export interface Startable {
  /**
   * Starts it, and returns a function that stops it. If it rejects, no part of it is still running, except for the step
   * that the signal interrupted.
   */
  start(state: Record<string, unknown>, options?: StartOptions): Promise<Cleanup>;
}

/** The parts of an App that its lifespan uses. */
interface LifespanSettings<A> {
  readonly logger: Logger;
  readonly generator: LifespanFunction<A> | undefined;
  readonly mounted: () => readonly Startable[];
  readonly application: ApplicationScope;
}

/** The start of one App's own functions. */
interface OwnStart {
  readonly state: Record<string, unknown>;
  /** The keys of the state that are taken. */
  readonly given: Set<string>;
  readonly signal: AbortSignal | null;
}

/** The hooks of one App. */
export class AppLifespan<A> implements Startable {
  readonly #app: A;
  readonly #logger: Logger;
  readonly #generator: LifespanFunction<A> | undefined;
  readonly #mounted: () => readonly Startable[];
  readonly #application: ApplicationScope;
  /** The lifespans of routers, by router. */
  readonly routers = new Map<object, LifespanFunction<A>>();
  readonly startup: LifespanHook<A>[] = [];
  readonly shutdown: LifespanHook<A>[] = [];

  constructor(app: A, { logger, generator, mounted, application }: LifespanSettings<A>) {
    if (generator !== undefined) assertHook("lifespan", generator);
    this.#app = app;
    this.#logger = logger;
    this.#generator = generator;
    this.#mounted = mounted;
    this.#application = application;
  }

  async start(state: Record<string, unknown>, options: StartOptions = {}): Promise<Cleanup> {
    const { outer, signal = null } = options;
    const { lifetime, overrides } = outer ?? { lifetime: this.#application.begin(), overrides: [] };
    lifetime.join(this.#application, overrides);
    const cleanups: Cleanup[] = outer ? [] : [() => lifetime.leave()];
    const stops: Cleanup[] = [];
    try {
      await this.#startOwn({ state, given: new Set(), signal }, cleanups, stops);
      const inner = { lifetime, overrides: this.#application.overridesOf(overrides) };
      for (const mounted of this.#mounted()) stops.push(await mounted.start(state, { ...options, outer: inner }));
      if (!outer) {
        stops.push(() => lifetime.close());
        await lifetime.startAll(signal);
      }
    } catch (error) {
      await this.#runAll([...stops.toReversed(), ...cleanups.toReversed()]);
      throw error;
    }
    return async () => {
      const hooks = this.shutdown.toReversed().map((hook) => () => hook(this.#app));
      const errors = await this.#runAll([...stops.toReversed(), ...hooks, ...cleanups.toReversed()]);
      if (errors.length > 0) throw errors[0];
    };
  }

  /** Runs the App's own lifespan and hooks, which stop behind the lifespans of its routers. */
  async #startOwn(start: OwnStart, cleanups: Cleanup[], stops: Cleanup[]): Promise<void> {
    if (this.#generator) cleanups.push(await this.#enter(this.#generator, start));
    for (const hook of this.startup) {
      const cleanup = await unlessAborted(hook(this.#app), start.signal);
      if (typeof cleanup === "function") cleanups.push(cleanup as Cleanup);
    }
    for (const lifespan of this.routers.values()) stops.push(await this.#enter(lifespan, start));
  }

  async #enter(lifespan: LifespanFunction<A>, { state, given, signal }: OwnStart): Promise<Cleanup> {
    const generator = lifespan(this.#app);
    if (typeof generator?.next !== "function") {
      throw new TypeError("The lifespan is not a generator. Write `async function* (app) { …; yield; … }`.");
    }
    const first = await unlessAborted(generator.next(), signal);
    if (first.done) throw new Error("The lifespan generator ended without a `yield`. Yield once, when all is started.");
    const leave = async () => {
      const last = await generator.next();
      if (!last.done) {
        await generator.return();
        throw new Error("The lifespan generator yields more than once.");
      }
    };
    for (const [key, value] of Object.entries(first.value ?? {})) {
      if (given.has(key)) {
        await this.#runAll([leave]);
        throw configurationError("TSGI_DUPLICATE_STATE", key);
      }
      given.add(key);
      state[key] = value;
    }
    return leave;
  }

  /** Runs every cleanup, even if others fail. */
  async #runAll(cleanups: readonly Cleanup[]): Promise<unknown[]> {
    const errors: unknown[] = [];
    for (const cleanup of cleanups) {
      try {
        await cleanup();
      } catch (error) {
        errors.push(error);
        this.#logger.error({ err: error }, `A shutdown hook failed: ${errorText(error)}`);
      }
    }
    return errors;
  }
}

/** The message of a start that failed. Its text contains the code, because other servers receive only the text. */
function failureOf(error: unknown, hasError: boolean): LifespanResponseMessage {
  const code = errorCodeOf(error);
  const text = errorText(error);
  const message = code === null || text.includes(code) ? text : `${text} [${code}]`;
  return { type: "lifespan.startup.failed", message, ...(hasError ? { error } : {}) };
}

/** Serves the lifespan scope: startup and shutdown as the server asks for them. */
export async function serveLifespan(
  startable: Startable,
  {
    scope,
    receive,
    send,
  }: { readonly scope: LifespanScope & Partial<ReportingScope>; readonly receive: Receive; readonly send: Send },
  logger: Logger,
): Promise<void> {
  const state = (scope.state ??= {});
  let stop: Cleanup | null = null;
  for (;;) {
    const message = await receive();
    if (message.type === "lifespan.startup") {
      try {
        const isTested = scope.extensions?.[TESTING] !== undefined;
        stop = await startable.start(state, { isTested, signal: scope[ABANDONED] ?? null });
      } catch (error) {
        const isReported = scope[TAKES_ERRORS] === true;
        if (!isReported) logger.error({ err: error }, `Startup failed: ${errorText(error)}`);
        return send(failureOf(error, isReported));
      }
      await send({ type: "lifespan.startup.complete" });
    } else if (message.type === "lifespan.shutdown") {
      try {
        await stop?.();
      } catch (error) {
        await send({ type: "lifespan.shutdown.failed", message: errorText(error) });
        return;
      }
      await send({ type: "lifespan.shutdown.complete" });
      return;
    } else {
      throw new TypeError(`Expected a lifespan message, not ${JSON.stringify(message.type)}.`);
    }
  }
}
