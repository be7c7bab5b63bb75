/** The types that compiled parameters and dependencies have. @module */
import type { Callable, Check, DependencyScope } from "../depends.js";
import type { CredentialsFinder } from "../credentials.js";
import type { ParamKind } from "../marker.js";
import type { SourceMarker } from "../source.js";
import type { Call, FaultOrder } from "./call.js";

/** One parameter as registration compiled it. */
export interface ParamSpec {
  /** The parameter's name in the handler. */
  readonly name: string;
  /** One of the thirteen kinds, 0 to 12. */
  readonly kind: ParamKind;
  /** The declaration of the parameter: a schema, a parameter function, or a class. */
  readonly annotation: unknown;
  /** The default, or `undefined`. */
  readonly default: unknown;
  /** The value of the parameter function: of the one that was written, or the one that a bare schema stands for. `null` for a class. */
  readonly marker: unknown;
}

/** The protocol that a route serves. */
export type Protocol = "http" | "websocket";

/** A parameter that is read from the request. */
export interface SourceSpec extends ParamSpec {
  readonly marker: SourceMarker;
}

/** Returns the plan that replaces a dependency, or the dependency's own plan. */
export type FindOverride = (step: DependencyStep) => DependencyPlan;

/** The arguments of one callable, by name. */
export type Arguments = Record<string, unknown>;

/** One step in making the arguments of a callable. */
export interface Step {
  /** Name of the argument that it creates, or `null`. */
  readonly name: string | null;
  /**
   * Returns the argument, `INVALID` after errors, or a promise of either.
   *
   * @param last - The result of the step before.
   * @param args - The arguments so far.
   * @param find - Looks overrides up; `null` without overrides.
   */
  readonly run: (call: Call, last: unknown, args: Arguments, find: FindOverride | null) => unknown;
  /** The part of the request that it reads; `null` if it reads no parameter. */
  readonly reads: "head" | "body" | null;
}

/** The value of an empty slot. */
export const EMPTY: unique symbol = Symbol("empty");

/** The place from which the value of a dependency of scope `"app"` is read; {@link EMPTY} while no lifespan has filled it. */
export interface Slot {
  value: unknown;
}

/** Gives values of scope `"app"` that are in no slot. */
export interface ApplicationValues {
  read(step: DependencyStep, call: Call, find: FindOverride | null): unknown;
}

/** A security scheme that an optional dependency needs. */
export interface SchemeRead {
  /** Reads the arguments of the scheme, without an observed step. */
  readonly plan: CallablePlan;
  readonly find: CredentialsFinder;
}

/** A parameter that is another callable's result. */
export interface DependencyStep {
  readonly name: string;
  readonly plan: DependencyPlan;
  readonly useCache: boolean;
  readonly scope: DependencyScope;
  /** The place from which a request reads the value; `null` for a dependency that each request calls. */
  readonly slot: Slot | null;
  /** The check of the value, for readiness, or `null`. */
  readonly check: Check | null;
  /** The values of the route's App; `null` if it is compiled outside of an App. */
  readonly application: ApplicationValues | null;
  /** The schemes whose credentials decide if it is called; `null` for a dependency that is always called. */
  readonly schemes: readonly SchemeRead[] | null;
  /** One object for each callable and its scopes: the cache key of the result. */
  readonly cacheKey: object;
  /** The protocol of the route; `null` if it is unknown. */
  readonly protocol: Protocol | null;
  /** The scopes asked for here and on the way here. */
  readonly scopes: readonly string[];
  /** `true` for the original below its own override, which no override replaces again. */
  readonly isOriginal: boolean;
}

/** The way of calling a callable. */
export type CallableShape = "function" | "class" | "generator";

/** A callable, and a name to use if its function has no name. */
export interface Named {
  readonly callable: Callable;
  /** Of a dependency, the parameter that gets its result; of a handler, its route. */
  readonly role: string;
}

/**
 * The name of a handler or a dependency wherever people read it: in log lines, spans, messages, readiness and the inspector.
 * Read when it is needed, because `tsgi dev` names functions after they have been compiled.
 */
export function nameOf({ callable, role }: Named): string {
  return callable.name || role;
}

/** A callable with everything that its arguments need, compiled once. */
export interface CallablePlan extends Named {
  readonly isAsync: boolean;
  readonly specs: readonly ParamSpec[];
  /** `true` if a parameter has the name of a member that every object inherits, such as `__proto__`. */
  readonly needsNullPrototype: boolean;
  readonly dependencies: readonly DependencyStep[];
  /** The arguments that are segments of the path, as text: they need no step. */
  readonly pathTexts: readonly string[];
  /**
   * Make the other arguments: read path, query, headers, cookies and the classes; run the dependencies; load the body and read
   * its parameters.
   */
  readonly steps: readonly Step[];
  /** `true` if observers hear of the steps that read parameters, as of steps of kind `validation`. */
  readonly tellsReads: boolean;
}

/** A callable that a parameter depends on. */
export interface DependencyPlan extends CallablePlan {
  readonly shape: CallableShape;
  /** `true` for a security scheme, and for what needs one. */
  readonly takesCredentials: boolean;
  /** `true` where it or a dependency of it is a generator: then it does not overlap with others, so that the order is fixed. */
  readonly hasGenerator: boolean;
  /** `true` if it, or a dependency of it that each request calls, is transactional. */
  readonly holdsTransaction: boolean;
}

/** The plan for a dependency: its own, or the plan of its replacement. */
export function planFor(step: DependencyStep, find: FindOverride | null): DependencyPlan {
  return find && !step.isOriginal ? find(step) : step.plan;
}

/** The plan of a route: its guards, and the handler. */
export interface RoutePlan {
  /** The dependencies of App, routers and route, outside in. */
  readonly guards: readonly DependencyStep[];
  /** The handler. Its steps begin with the guards, which run one after the other. */
  readonly handler: CallablePlan;
  /** `true` where each body parameter is a member of the body's object. */
  readonly embedBody: boolean;
  /** `true` if a parameter is a file, so that a form must be multipart. */
  readonly takesFiles: boolean;
  /** Every source parameter of the handler and everything below it, for documents. */
  readonly sources: readonly SourceSpec[];
  /** The order of errors in the response. */
  readonly faultOrder: FaultOrder;
  /** The first transactional dependency, or `null`. */
  readonly transactional: DependencyPlan | null;
  /** Every dependency, guards first, each callable once. */
  readonly allDependencies: readonly DependencyPlan[];
}
