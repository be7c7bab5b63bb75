/** Compiles the declared parameters of a function into the steps that make its arguments. @module */
import { messageOf } from "../../common/error-codes.js";
import { configurationError, RecursionError } from "../../common/exceptions.js";
import { SourceMarker } from "../source.js";
import { type Callable, DependsMarker, isTransactional } from "../depends.js";
import { finderOf } from "../credentials.js";
import { isAsyncFunction, isClass, isGeneratorFunction, type Params, paramsOf, SecurityScopes } from "../annotation.js";
import { PATH } from "../head.js";
import { assertValid, faultOrderOf } from "./arguments.js";
import {
  type ApplicationValues,
  type CallablePlan,
  type CallableShape,
  type DependencyPlan,
  type DependencyStep,
  EMPTY,
  type Named,
  nameOf,
  type ParamSpec,
  type Protocol,
  type RoutePlan,
  type SchemeRead,
  type SourceSpec,
  type Step,
} from "./plan.js";
import { assertApplicationScope, assertCompatible, assertOneBody, assertProtocol, assertScopesFit } from "./rules.js";
import { bodyOf, compileHandlerSpecs, compileReadOf, compileSpec, loadOf, type SpecPlace } from "./specs.js";
import { authenticatedStep, dependencyStep, parallelStep, transactionalStep } from "./run-dependency.js";
import { watchStep } from "./transaction.js";

/** The place of the compiled function, for messages and for rules that depend on it. */
interface Place extends SpecPlace {
  /** The dependencies on the way here, outermost first. */
  readonly chain: readonly Named[];
  /** The scopes asked for on the way here. */
  readonly scopes: readonly string[];
  /** The callable whose override is being compiled: below it, the original is meant. */
  readonly original: Callable | null;
  /** The values of scope `"app"` of the route's App. */
  readonly application: ApplicationValues | null;
}

const cacheKeys = new WeakMap<Callable, Map<string, object>>();

/** One object for each callable with its scopes. */
function cacheKeyOf(callable: Callable, variant: string): object {
  let variants = cacheKeys.get(callable);
  if (!variants) cacheKeys.set(callable, (variants = new Map<string, object>()));
  let key = variants.get(variant);
  if (!key) variants.set(variant, (key = {}));
  return key;
}

/** @param of - The name of its parameter, and what it is called if its function has no name: by default the same. */
function compileStep(of: { name: string; role?: string }, marker: DependsMarker, place: Place): DependencyStep {
  const { name, role = name } = of;
  const scopes = [...new Set([...place.scopes, ...marker.scopes])];
  const plan = compileDependency({ callable: marker.callable, role }, { ...place, scopes });
  const isApplication = marker.scope === "app";
  if (isApplication) assertApplicationScope(plan);
  const isOriginal = marker.callable === place.original;
  const variant = `${isOriginal ? "original" : ""}|${usesScopes(plan) ? scopes.toSorted().join(" ") : ""}`;
  return {
    name,
    plan,
    useCache: marker.useCache,
    scope: marker.scope,
    slot: isApplication ? { value: EMPTY } : null,
    check: marker.check,
    schemes: marker.isOptional ? schemesOf(plan) : null,
    application: place.application,
    protocol: place.protocol,
    cacheKey: cacheKeyOf(marker.callable, variant),
    scopes,
    isOriginal,
  };
}

/**
 * The security schemes of an optional dependency. @throws ConfigurationError if it has no scheme: it would never be
 * called.
 */
function schemesOf(plan: DependencyPlan): readonly SchemeRead[] {
  const schemes = collectSchemes(plan, new Map());
  if (schemes.size === 0) throw configurationError("TSGI_OPTIONAL_WITHOUT_SCHEME", nameOf(plan));
  return [...schemes.values()];
}

function collectSchemes(plan: DependencyPlan, found: Map<Callable, SchemeRead>): Map<Callable, SchemeRead> {
  const find = finderOf(plan.callable);
  if (find) found.set(plan.callable, { plan: { ...plan, tellsReads: false }, find });
  for (const inner of plan.dependencies) collectSchemes(inner.plan, found);
  return found;
}

function usesScopes(plan: DependencyPlan): boolean {
  return (
    plan.specs.some((spec) => spec.annotation === SecurityScopes) ||
    plan.dependencies.some((step) => usesScopes(step.plan))
  );
}

function compilePlan(named: Named, specs: readonly ParamSpec[], place: Place): CallablePlan {
  const { callable, role } = named;
  const headSteps: Step[] = [];
  const dependencies: DependencyStep[] = [];
  const bodySteps: Step[] = [];
  const pathTexts: string[] = [];
  for (const spec of specs) {
    if (isPathText(spec)) {
      pathTexts.push(spec.name);
      continue;
    }
    if (spec.marker instanceof DependsMarker) {
      dependencies.push(compileStep(spec, spec.marker, place));
      continue;
    }
    const load = loadOf(spec);
    const reads = load.length === 0 ? "head" : "body";
    const steps = load.length === 0 ? headSteps : bodySteps;
    if (load.length > 0 && steps.length === 0) steps.push(...load.map((run) => ({ name: null, run, reads }) as const));
    steps.push({ name: spec.name, run: compileReadOf(spec, place.scopes, named), reads });
  }
  const transactional = dependencies.filter(({ plan }) => isTransactional(plan.callable));
  const dependencySteps = compileDependencySteps(dependencies.filter((step) => !transactional.includes(step)));
  // The body is read before: a slow client must not hold a transaction open.
  const lastSteps = transactional.map(transactionalStep);
  return {
    callable,
    role,
    isAsync: isAsyncFunction(callable),
    specs,
    needsNullPrototype: specs.some(({ name }) => name in Object.prototype),
    dependencies,
    pathTexts,
    steps: [...headSteps, ...dependencySteps, ...bodySteps, ...lastSteps],
    tellsReads: specs.some(({ marker }) => marker instanceof SourceMarker),
  };
}

/** Tells if a parameter is a name of the pattern that is not declared, or declared as `Path()`: text as received. */
function isPathText({ name, marker }: ParamSpec): boolean {
  if (!(marker instanceof SourceMarker) || marker.source !== PATH) return false;
  return marker.schema === null && marker.wireName(name) === name;
}

/**
 * Dependencies that take credentials come first, one after the other: a caller who is not known must not learn from the
 * others what exists. Then those of scope `"app"`, which already exist, and the rest in the order of the params;
 * adjacent ones without generators run concurrently.
 */
function compileDependencySteps(dependencies: readonly DependencyStep[]): Step[] {
  const authentications = dependencies.filter(({ plan }) => plan.takesCredentials);
  const others = dependencies.filter(({ plan }) => !plan.takesCredentials);
  const steps = authentications.map(dependencyStep);
  if (authentications.length > 0 && others.length > 0) steps.push(authenticatedStep(authentications));
  steps.push(...others.filter(({ slot }) => slot !== null).map(dependencyStep));
  let side: DependencyStep[] = [];
  const flush = () => {
    if (side.length > 0) steps.push(side.length === 1 ? dependencyStep(side[0] as DependencyStep) : parallelStep(side));
    side = [];
  };
  for (const dependency of others) {
    if (dependency.slot !== null) continue;
    if (dependency.plan.hasGenerator) {
      flush();
      steps.push(dependencyStep(dependency));
    } else {
      side.push(dependency);
    }
  }
  flush();
  return steps;
}

function shapeOf(callable: Callable): CallableShape {
  if (isClass(callable)) return "class";
  return isGeneratorFunction(callable) ? "generator" : "function";
}

/** The names of the cycle that a callable closes, or `null`. */
export function circleOf(named: Named, chain: readonly Named[]): string | null {
  const start = chain.findIndex(({ callable }) => callable === named.callable);
  return start === -1 ? null : [...chain.slice(start), named].map(nameOf).join(" → ");
}

/**
 * Compiles a dependency and everything below it.
 *
 * @throws RecursionError when it depends on itself, with the chain.
 */
export function compileDependency(named: Named, place: Place): DependencyPlan {
  const { callable } = named;
  const circle = circleOf(named, place.chain);
  if (circle !== null) {
    throw new RecursionError(messageOf("TSGI_CIRCULAR_DEPENDENCY.params", circle), {
      code: "TSGI_CIRCULAR_DEPENDENCY",
    });
  }
  const inner = { ...place, chain: [...place.chain, named] };
  const specs = Object.entries(paramsOf(callable) ?? {}).map((param) => compileSpec(param, nameOf(named), place));
  const plan = compilePlan(named, specs, inner);
  const shape = shapeOf(callable);
  const inRequest = plan.dependencies.filter(({ slot }) => slot === null);
  const holdsTransaction = isTransactional(callable) || inRequest.some((step) => step.plan.holdsTransaction);
  return {
    ...plan,
    shape,
    takesCredentials: finderOf(callable) !== undefined || plan.dependencies.some((step) => step.plan.takesCredentials),
    hasGenerator: shape === "generator" || holdsTransaction || inRequest.some((step) => step.plan.hasGenerator),
    holdsTransaction,
  };
}

/** The params of a route's handler: those attached to it and those of the route. */
function mergeParams(handler: Callable, params: Params): Params {
  const carried = paramsOf(handler);
  if (!carried) return params;
  for (const name of Object.keys(params)) {
    if (Object.hasOwn(carried, name)) {
      throw configurationError("TSGI_DUPLICATE_PARAMETER", name);
    }
  }
  return { ...carried, ...params };
}

/** One route, as it is compiled. */
export interface RouteSource {
  readonly handler: Callable;
  /** The name of a handler whose function has no name. */
  readonly role: string;
  /** The names of the whole pattern. */
  readonly names: readonly string[];
  readonly params: Params;
  /** The dependencies of App, routers and route, outside in. */
  readonly guards?: readonly unknown[];
  readonly protocol?: Protocol | null;
  readonly application?: ApplicationValues | null;
}

/**
 * Compiles everything that a request to one route will need.
 *
 * @throws ConfigurationError when a parameter cannot work there.
 */
export function compileRoute(route: RouteSource): RoutePlan {
  const { handler, role, names, params, guards = [], protocol = null, application = null } = route;
  const place: Place = { names, chain: [], scopes: [], original: null, protocol, application };
  const named = { callable: handler, role };
  const specs = compileHandlerSpecs(named, mergeParams(handler, params), place);
  const plan = compilePlan(named, specs, place);
  const guardSteps = guards.map((guard, index) => compileGuard(guard, index, place));
  const all = collectDependencies([...guardSteps, ...plan.dependencies]);
  assertScopesFit([...guardSteps, ...plan.dependencies]);
  const specsOfAll = [...all.flatMap((dependency) => dependency.specs), ...specs];
  const sources = specsOfAll.filter((spec): spec is SourceSpec => spec.marker instanceof SourceMarker);
  assertOneBody(sources);
  assertCompatible(sources);
  if (protocol) assertProtocol({ specs, dependencies: [...guardSteps, ...plan.dependencies] }, protocol);
  const transactional = all.find(({ callable }) => isTransactional(callable)) ?? null;
  const inFront = [...(transactional === null ? [] : [watchStep]), ...guardSteps.flatMap(compileGuardSteps)];
  return {
    guards: guardSteps,
    handler: { ...plan, steps: [...inFront, ...plan.steps] },
    embedBody: embedsBody(sources),
    takesFiles: sources.some(({ marker }) => marker.source.body === "multipart"),
    sources,
    faultOrder: faultOrderOf(guardSteps, plan),
    transactional,
    allDependencies: all,
  };
}

/** A guard's result is dropped; after its errors, no further step runs. */
function compileGuardSteps(guard: DependencyStep): Step[] {
  return [{ ...dependencyStep(guard), name: null }, assertValid];
}

function compileGuard(guard: unknown, index: number, place: Place): DependencyStep {
  if (!(guard instanceof DependsMarker)) {
    throw configurationError("TSGI_INVALID_DEPENDENCIES_ENTRY", index + 1, guard);
  }
  return compileStep({ name: "", role: `guard ${index + 1}` }, guard, place);
}

function collectDependencies(steps: readonly DependencyStep[], found: DependencyPlan[] = []): DependencyPlan[] {
  for (const { plan } of steps) {
    collectDependencies(plan.dependencies, found);
    if (!found.some((known) => known.callable === plan.callable)) found.push(plan);
  }
  return found;
}

function embedsBody(sources: readonly SourceSpec[]): boolean {
  const bodies = sources.filter((spec) => bodyOf(spec) === "json");
  const names = new Set(bodies.map(({ name, marker }) => marker.wireName(name)));
  return names.size > 1 || bodies.some(({ marker }) => marker.options.embed === true);
}
