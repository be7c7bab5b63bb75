/** Work outside of requests, such as jobs: the dependencies of its functions, and its signal. @module */
import { Call } from "../parameters/dependencies/call.js";
import { ApplicationScope } from "../parameters/dependencies/application.js";
import { closeExits } from "../parameters/dependencies/exits.js";
import { compileRoute } from "../parameters/dependencies/compile.js";
import { createFindOverride, type DependencyOverrides } from "../parameters/dependencies/overrides.js";
import { type Callable, functionOf } from "../parameters/depends.js";
import { ParamKind } from "../parameters/marker.js";
import type { Params } from "../parameters/annotation.js";
import { nameOf, type ParamSpec, type RoutePlan } from "../parameters/dependencies/plan.js";
import type { Fault } from "../common/exceptions.js";
import type { Logger } from "../common/logger.js";
import { DEFAULT_LIMITS } from "../http/limits.js";
import { ASGI } from "../protocol/scope.js";
import { createBytes } from "../protocol/bytes.js";
import type { HTTPScope, Receive, Send } from "../protocol/asgi.js";
import { live } from "./life.js";
import { transactionalHandler } from "./transactions.js";
import { compileReturns, compileSchema, type Schema } from "../schema/schema.js";
import { Faults } from "../schema/faults.js";

const NOTHING = createBytes(0);
/** A client that could disconnect does not exist. */
const NO_MESSAGE: Receive = () => new Promise(() => {});
const NOWHERE: Send = () => Promise.resolve();

/** The scope of a call that is not a request: no parameter reads it, because {@link WorkScope.add} rejects those that would. */
function emptyScope(): HTTPScope {
  return {
    type: "http",
    asgi: ASGI,
    http_version: "1.1",
    method: "POST",
    scheme: "http",
    path: "/",
    query_string: NOTHING,
    root_path: "",
    headers: [],
  };
}

/** One run, with its own signal instead of the signal of a request. */
class WorkCall extends Call {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal, logger: Logger) {
    super(emptyScope(), NO_MESSAGE, NOWHERE, {
      limits: DEFAULT_LIMITS,
      logger,
      embedBody: false,
      faultOrder: new Map(),
      takesFiles: false,
      statusCode: 200,
      mayHoldTransactions: true,
    });
    this.#signal = signal;
  }

  override get signal(): AbortSignal {
    return this.#signal;
  }
}

/** A function with dependencies, to be run outside of requests. */
export interface Work {
  /** The first parameter that only a request has, such as a header, with the name of its function; else `null`. */
  readonly misplaced: readonly [parameter: string, of: string] | null;
  /**
   * Makes the dependencies, calls the function and cleans up.
   *
   * @param given - Arguments in addition to the parameters.
   */
  run(given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
}

/** Functions that share their values of scope `"app"`: the jobs of a program. */
export class WorkScope {
  readonly #application: ApplicationScope;
  readonly #overrides: DependencyOverrides;
  readonly #logger: Logger;
  /** The overrides of the App whose values it has. */
  #outer: readonly DependencyOverrides[] = [];

  /** @param owner - The object to which the functions belong. */
  constructor(owner: object, overrides: DependencyOverrides, logger: Logger) {
    this.#application = new ApplicationScope(owner, overrides, logger);
    this.#overrides = overrides;
    this.#logger = logger;
  }

  /** Compiles a function. @throws ConfigurationError when a parameter cannot work. */
  add(handler: Callable, params: Params, role: string): Work {
    const plan = compileRoute({ handler, role, names: [], params, application: this.#application });
    const misplaced = misplacedIn(plan, role);
    if (misplaced === null) this.#application.add(plan, []);
    return { misplaced, run: (given, signal) => this.#run(plan, given, signal) };
  }

  /**
   * From now on it has the values and the overrides of an App, until the returned function is called.
   *
   * @param beforeClose - Ends the work, before the values are cleaned up.
   */
  join(app: object, beforeClose: () => Promise<void>): () => void {
    this.#outer = ApplicationScope.of(app)?.adopt(this.#application, beforeClose) ?? [];
    return () => {
      this.#outer = [];
    };
  }

  /** Cleans up the values that were made without a start. */
  close(): Promise<void> {
    return this.#application.closeDirect();
  }

  /**
   * Starts the values of scope `"app"`.
   *
   * @param signal - Aborts when the startup is to be undone instead of completed.
   * @returns Cleans them up.
   */
  async start(signal: AbortSignal | null = null): Promise<() => Promise<void>> {
    const lifetime = this.#application.begin();
    lifetime.join(this.#application, []);
    const stop = async () => {
      await lifetime.close();
      lifetime.leave();
    };
    try {
      await lifetime.startAll(signal);
    } catch (error) {
      await stop();
      throw error;
    }
    return stop;
  }

  #run(plan: RoutePlan, given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    const { handler } = plan;
    const handle = (args: object) => functionOf(handler.callable)({ ...args, ...given });
    return live<unknown>(
      {
        plan: handler,
        handle: plan.transactional === null ? handle : transactionalHandler(handle),
        result: async (call, result) => {
          await call.closeFunctionScope((exits) => closeExits(exits, "transaction", this.#logger));
          return result;
        },
        failure: (_call, error) => {
          throw error;
        },
      },
      new WorkCall(signal, this.#logger),
      createFindOverride([...this.#outer, this.#overrides], []),
    );
  }
}

const isOfWork = ({ kind }: ParamSpec) => kind === ParamKind.DEPENDS || kind === ParamKind.SIGNAL;

function misplacedIn({ handler, allDependencies }: RoutePlan, role: string): Work["misplaced"] {
  for (const plan of [...allDependencies, handler]) {
    const spec = plan.specs.find((one) => !isOfWork(one));
    if (spec) return [spec.name, plan === handler ? role : nameOf(plan)];
  }
  return null;
}

/** The value that a function gets, or the errors, which do not contain the value. */
export type CheckedValue = { readonly value: unknown } | { readonly faults: readonly Fault[] };

/** The JSON text of a value, or the errors, which do not contain the value. */
export type WrittenValue = { readonly text: string } | { readonly faults: readonly Fault[] };

/**
 * Compiles the writer of a value that leaves the application, like a result: properties that are not in the schema are
 * removed.
 *
 * @throws ConfigurationError for a schema that cannot work.
 */
export function compileTextOf(schema: Schema): (value: unknown) => Promise<WrittenValue> {
  const returns = compileReturns(schema);
  return async (value) => {
    const faults = new Faults();
    const text = await returns(value, faults);
    if (faults.count === 0 && text !== undefined) return { text };
    const issues = faults.forClient().map(({ type, loc, msg }) => ({ type, loc, msg }));
    return { faults: issues.length > 0 ? issues : [{ type: "missing", loc: [], msg: "The value has no JSON form" }] };
  };
}

/** Compiles the check of a value. @throws ConfigurationError for a schema that cannot work. */
export function compileCheckOf(schema: Schema): (value: unknown) => Promise<CheckedValue> {
  const { check } = compileSchema(schema);
  return async (given) => {
    const faults = new Faults();
    const value: unknown = await check(given, faults);
    if (faults.count === 0) return { value };
    return { faults: faults.forClient().map(({ type, loc, msg }) => ({ type, loc, msg })) };
  };
}
