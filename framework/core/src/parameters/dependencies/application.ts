/** Dependencies of scope `"app"`: started once for a lifespan, read from a slot by each request. @module */
import type { HTTPScope, WebSocketScope } from "../../protocol/asgi.js";
import { ConfigurationError, configurationError } from "../../common/exceptions.js";
import type { Logger } from "../../common/logger.js";
import { type Callable, type Check, functionOf } from "../depends.js";
import type { Call } from "./call.js";
import { disconnectReason, unlessAborted } from "../../common/promises.js";
import { ParamKind } from "../marker.js";
import { closeExits, type Exit } from "./exits.js";
import { createFindOverride, type DependencyOverrides } from "./overrides.js";
import {
  type ApplicationValues,
  type DependencyPlan,
  type DependencyStep,
  EMPTY,
  type FindOverride,
  nameOf,
  planFor,
  type RoutePlan,
} from "./plan.js";

/** The key under which a mounting App says whose lifespan a request is in: the outermost App's. */
export const APPLICATION: unique symbol = Symbol("tsgi.application");

const NOTHING = Promise.resolve();

/** One call of one function: its arguments and its result. */
class Value {
  readonly plan: DependencyPlan;
  readonly dependencies: readonly Value[];
  readonly checks = new Set<Check>();
  value: unknown = EMPTY;
  /** Settles with the value; `null` before the start, and after one that failed. */
  pending: Promise<unknown> | null = null;

  constructor(plan: DependencyPlan, dependencies: readonly Value[]) {
    this.plan = plan;
    this.dependencies = dependencies;
  }
}

/** Values, each behind those that it depends on, each once. */
function inOrder(values: readonly Value[], found = new Set<Value>()): Set<Value> {
  for (const value of values) {
    if (found.has(value)) continue;
    inOrder(value.dependencies, found);
    found.add(value);
  }
  return found;
}

/** A check of a dependency, for readiness. */
export interface NamedCheck {
  readonly name: string;
  readonly run: () => unknown;
}

/** The values of one lifespan, which an App shares with those mounted in it. */
export class Lifetime {
  /** The App that it was started for. */
  readonly root: ApplicationScope;
  readonly #logger: Logger;
  /** By function, then by its set of dependencies: overrides differ between mounted Apps. */
  readonly #values = new Map<Callable, Value[]>();
  readonly #members = new Map<ApplicationScope, readonly DependencyOverrides[]>();
  readonly #exits: Exit[] = [];
  /** For work that runs as long as the application. Made for the first dependency that asks. */
  #abort: AbortController | null = null;
  /** Called before the cleanup: they end work that uses the values. */
  readonly beforeClose: (() => Promise<void>)[] = [];
  #lastGenerator: Promise<unknown> = Promise.resolve();
  /** A startup that is in progress, with its first error; `null` outside of one. */
  #startUp: { failure: { readonly error: unknown } | null; readonly signal: AbortSignal | null } | null = null;

  constructor(root: ApplicationScope, logger: Logger) {
    this.root = root;
    this.#logger = logger;
  }

  /** Takes in an App. @param outer - The overrides of the Apps around it, outermost first. */
  join(member: ApplicationScope, outer: readonly DependencyOverrides[]): void {
    if (!this.#members.has(member)) member.enter(this);
    this.#members.set(member, outer);
  }

  /** The place of a dependency's value, started or not. */
  valueOf(step: DependencyStep, find: FindOverride | null): Value {
    const plan = planFor(step, find);
    const dependencies = plan.dependencies.map((inner) => this.valueOf(inner, find));
    const known = this.#values.get(plan.callable) ?? [];
    let value = known.find((one) => one.dependencies.every((inner, index) => inner === dependencies[index]));
    if (!value) this.#values.set(plan.callable, [...known, (value = new Value(plan, dependencies))]);
    if (step.check) value.checks.add(step.check);
    return value;
  }

  /**
   * Starts everything that the routes of all members depend on.
   *
   * @param signal - Aborts when the running ones are not awaited, and the others not started.
   * @throws the error of the first one that threw, in the order of the routes, after all running ones have settled.
   */
  async startAll(signal: AbortSignal | null = null): Promise<void> {
    const values = Array.from(this.#members, ([member, outer]) => member.valuesIn(this, outer)).flat();
    this.#startUp = { failure: null, signal };
    const outcomes = await Promise.allSettled(this.#schedule(inOrder(values)));
    this.#startUp = null;
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    for (const member of this.#members.keys()) member.fill();
  }

  /** Returns a value, or starts it if it has not been requested yet. A failed start is tried again by the next call. */
  start(value: Value): unknown {
    if (value.value !== EMPTY) return value.value;
    const pending = this.#schedule(inOrder([value])).at(-1) as Promise<unknown>;
    return pending;
  }

  /** Every wait is for a member that was scheduled before, so waits cannot form a cycle. */
  #schedule(values: Iterable<Value>): Promise<unknown>[] {
    return Array.from(values, (value) => {
      if (value.pending !== null) return value.pending;
      const isGenerator = value.plan.shape === "generator";
      const before = value.dependencies.map(({ pending }) => pending ?? NOTHING);
      const pending = this.#run(value, isGenerator ? [...before, this.#lastGenerator] : before);
      value.pending = pending;
      const settled = pending.catch(() => {
        value.pending = null;
      });
      if (isGenerator) this.#lastGenerator = settled;
      return pending;
    });
  }

  async #run(value: Value, before: readonly Promise<unknown>[]): Promise<unknown> {
    const startUp = this.#startUp;
    await Promise.all(before);
    if (startUp?.failure) throw startUp.failure.error;
    try {
      return (value.value = await unlessAborted(this.#call(value), startUp?.signal ?? null));
    } catch (error) {
      if (startUp) startUp.failure ??= { error };
      throw error;
    }
  }

  #call({ plan, dependencies }: Value): unknown {
    const args = Object.create(plan.needsNullPrototype ? null : Object.prototype) as Record<string, unknown>;
    for (const { name, kind } of plan.specs) if (kind === ParamKind.SIGNAL) args[name] = this.#signal;
    for (const [index, { name }] of plan.dependencies.entries()) args[name] = dependencies[index]?.value;
    if (plan.shape === "class") return Reflect.construct(plan.callable, [args]);
    const result = functionOf(plan.callable)(args);
    return plan.shape === "generator" ? this.#enter(nameOf(plan), result as Exit["generator"]) : result;
  }

  async #enter(name: string, generator: Exit["generator"]): Promise<unknown> {
    const first = await generator.next();
    if (first.done) throw configurationError("TSGI_DEPENDENCY_WITHOUT_YIELD", name);
    this.#exits.push({ generator, scope: "app", name });
    return first.value;
  }

  /** The checks for readiness of all dependencies of the members, by their names. */
  checks(): NamedCheck[] {
    // Outside of a lifespan it has no members.
    const members = this.#members.size > 0 ? this.#members : new Map([[this.root, []]]);
    const values = Array.from(members, ([member, outer]) => member.valuesIn(this, outer)).flat();
    return [...inOrder(values)].flatMap((value) =>
      [...value.checks].map((check) => ({
        name: nameOf(value.plan),
        run: async () => check((await this.start(value)) as never),
      })),
    );
  }

  get #signal(): AbortSignal {
    return (this.#abort ??= new AbortController()).signal;
  }

  /** Ends work, aborts the signal, and cleans up, last started first. An error in one is logged, the others still run. */
  async close(): Promise<void> {
    await Promise.allSettled(this.beforeClose.map((end) => end()));
    this.#abort?.abort(disconnectReason());
    await Promise.allSettled([...this.#values.values()].flat().map(({ pending }) => pending ?? NOTHING));
    await closeExits(this.#exits, "app", this.#logger);
  }

  /** Removes the members after all of them have stopped. */
  leave(): void {
    for (const member of this.#members.keys()) member.leave(this);
  }
}

/** The routes of an App whose guards or handlers depend on something. */
interface DependentRoute {
  readonly steps: readonly DependencyStep[];
  /** The names of the pattern. */
  readonly names: readonly string[];
}

function* applicationSteps(steps: readonly DependencyStep[], find: FindOverride | null): Generator<DependencyStep> {
  for (const step of steps) {
    if (step.slot !== null) yield step;
    else yield* applicationSteps(dependenciesOf(step, find), find);
  }
}

/** Empty for a replacement that cannot work: requests that need it get an error response. */
function dependenciesOf(step: DependencyStep, find: FindOverride | null): readonly DependencyStep[] {
  try {
    return planFor(step, find).dependencies;
  } catch (error) {
    if (error instanceof ConfigurationError) return [];
    throw error;
  }
}

const scopes = new WeakMap<object, ApplicationScope>();

/** The dependencies of scope `"app"` of the routes of one App. */
export class ApplicationScope implements ApplicationValues {
  readonly #overrides: DependencyOverrides;
  readonly #logger: Logger;
  readonly #routes: DependentRoute[] = [];
  /** The lifespans that it is in: its own, or those of the Apps that mount it. */
  readonly #lifetimes: Lifetime[] = [];
  /** The values of requests outside of any lifespan. */
  #direct: Lifetime | null = null;

  constructor(app: object, overrides: DependencyOverrides, logger: Logger) {
    this.#overrides = overrides;
    this.#logger = logger;
    scopes.set(app, this);
  }

  /** That of an App; `undefined` for any other application. */
  static of(app: object): ApplicationScope | undefined {
    return scopes.get(app);
  }

  /** Takes in a route. */
  add({ guards, handler }: RoutePlan, names: readonly string[]): void {
    const steps = [...guards, ...handler.dependencies];
    if (steps.length > 0) this.#routes.push({ steps, names });
  }

  /** Begins a lifespan of which this is the outermost App. */
  begin(): Lifetime {
    return new Lifetime(this, this.#logger);
  }

  /** The overrides of Apps that are mounted here. */
  overridesOf(outer: readonly DependencyOverrides[]): readonly DependencyOverrides[] {
    return [...outer, this.#overrides];
  }

  /** The values that the routes read in a lifespan, as the overrides are now. */
  valuesIn(lifetime: Lifetime, outer: readonly DependencyOverrides[]): Value[] {
    return this.#routes.flatMap(({ steps, names }) => {
      const find = createFindOverride(this.overridesOf(outer), names, false);
      return Array.from(applicationSteps(steps, find), (step) => lifetime.valueOf(step, find));
    });
  }

  /**
   * Takes in work that is not a request, such as jobs, so that it has the values of this App. In a lifespan, the last one
   * that was begun starts them.
   *
   * @param beforeClose - Ends the work, before its values are cleaned up.
   * @returns The overrides around it, outermost first.
   */
  adopt(member: ApplicationScope, beforeClose: () => Promise<void>): readonly DependencyOverrides[] {
    const overrides = this.overridesOf([]);
    const lifetime = this.#lifetimes.at(-1);
    lifetime?.join(member, overrides);
    lifetime?.beforeClose.push(beforeClose);
    return overrides;
  }

  /** Cleans up the values that were made outside of any lifespan. */
  async closeDirect(): Promise<void> {
    const direct = this.#direct;
    this.#direct = null;
    await direct?.close();
  }

  enter(lifetime: Lifetime): void {
    this.#lifetimes.push(lifetime);
    this.fill();
  }

  leave(lifetime: Lifetime): void {
    this.#lifetimes.splice(this.#lifetimes.indexOf(lifetime), 1);
    this.fill();
  }

  /** Gives the slots their values. They stay empty where the lifespan that a request is in is not the only one. */
  fill(): void {
    const [lifetime] = this.#lifetimes.length === 1 ? this.#lifetimes : [];
    for (const { steps } of this.#routes) {
      for (const step of applicationSteps(steps, null)) {
        if (step.slot) step.slot.value = lifetime ? lifetime.valueOf(step, null).value : EMPTY;
      }
    }
  }

  read(step: DependencyStep, { scope }: Call, find: FindOverride | null): unknown {
    const lifetime = this.lifetimeOf(scope);
    return lifetime.start(lifetime.valueOf(step, find));
  }

  /** The lifespan that a request is in. */
  lifetimeOf(scope: HTTPScope | WebSocketScope): Lifetime {
    const marked: typeof scope & { [APPLICATION]?: ApplicationScope } = scope;
    const root = marked[APPLICATION] ?? this;
    return (
      this.#lifetimes.findLast((lifetime) => lifetime.root === root) ??
      root.#lifetimes.at(-1) ??
      (root.#direct ??= new Lifetime(root, root.#logger))
    );
  }
}
