import type { ReceiveMessage } from "../asgi.js";
import { BackgroundTasks } from "../background.js";
import { UploadFile } from "../datastructures.js";
import { messageOf } from "../error-codes.js";
import { configurationError, RecursionError, withPlace } from "../exceptions.js";
import {
  type Callable,
  DependsMarker,
  isAsyncFunction,
  isClass,
  isGeneratorFunction,
  ParamKind,
  type Params,
  paramsOf,
  SecurityScopes,
  SourceMarker,
} from "../params.js";
import { Request } from "../request.js";
import { Response } from "../response.js";
import { assertReadable, compileSchema, Faults, isSchema, type Schema } from "../schema.js";
import { WebSocket } from "../websocket.js";
import { absenceOf } from "./absence.js";
import type {
  CallablePlan,
  CallableShape,
  DependencyPlan,
  DependencyStep,
  ParamSpec,
  Read,
  RoutePlan,
  Step,
} from "./plan.js";
import { compileBodyRead, compileFormRead, compileRead, wireName } from "./read.js";
import { compileFileRead } from "./read-file.js";
import { faultOrderOf } from "./fault-order.js";
import { dependencyStep, nameOf, parallelStep } from "./run-dependency.js";
import { assertValid } from "./steps.js";

/** What a route serves. */
export type Protocol = "http" | "websocket";

/** The kinds of parameters that a route of the protocol cannot have. */
const FOREIGN_KINDS: Readonly<Record<Protocol, ReadonlySet<ParamKind>>> = {
  http: new Set([ParamKind.WEBSOCKET]),
  websocket: new Set([ParamKind.BODY, ParamKind.FORM, ParamKind.FILE, ParamKind.REQUEST, ParamKind.RESPONSE]),
};

/** The kinds that are read from the body. */
const BODY_KINDS: ReadonlySet<ParamKind> = new Set([ParamKind.BODY, ParamKind.FORM, ParamKind.FILE]);

/** The kinds through which the files of a form are reached. */
const HOLDERS: ReadonlySet<ParamKind> = new Set([ParamKind.REQUEST, ParamKind.FORM, ParamKind.FILE]);

/** The classes that a parameter can be declared with, and their kinds. */
const INJECTABLE = new Map<unknown, ParamKind>([
  [Request, ParamKind.REQUEST],
  [Response, ParamKind.RESPONSE],
  [BackgroundTasks, ParamKind.BACKGROUND],
  [SecurityScopes, ParamKind.DEPENDS],
  [WebSocket, ParamKind.WEBSOCKET],
]);

/** The globals that bear the names of our classes, and that an editor leaves unmarked when the import is missing. */
const GLOBAL_NAMES = ["Request", "Response", "WebSocket", "File"] as const;

/** What is being compiled, for messages and for what depends on the place. */
interface Place {
  /** The names of the whole pattern; `null` while it is not known. */
  readonly names: readonly string[];
  /** The dependencies on the way here, outermost first. */
  readonly chain: readonly Callable[];
  /** The scopes asked for on the way here. */
  readonly scopes: readonly string[];
  /** The callable whose override is being compiled: below it, the original is meant. */
  readonly original: Callable | null;
}

/** @param of - What the callable is called. */
function where(name: string, of: string): string {
  return `the parameter ${JSON.stringify(name)} of ${of}`;
}

/** The descriptor that a bare schema stands for. */
function markerOfSchema(name: string, schema: Schema, names: readonly string[], place: string): SourceMarker {
  assertReadable(schema, place);
  if (names.includes(name)) return new SourceMarker(ParamKind.PATH, schema, {});
  const { isStruct } = withPlace(place, () => compileSchema(schema));
  return new SourceMarker(isStruct ? ParamKind.BODY : ParamKind.QUERY, schema, {});
}

function compileSpec(name: string, annotation: unknown, of: string, names: readonly string[]): ParamSpec {
  const place = where(name, of);
  if (annotation instanceof SourceMarker) return sourceSpec(name, annotation, annotation, names, place);
  if (annotation instanceof DependsMarker) {
    return { name, kind: ParamKind.DEPENDS, annotation, default: undefined, marker: annotation };
  }
  if (annotation === UploadFile) {
    return sourceSpec(name, annotation, new SourceMarker(ParamKind.FILE, null, {}), names, place);
  }
  const kind = INJECTABLE.get(annotation);
  if (kind !== undefined) return { name, kind, annotation, default: undefined, marker: null };
  if (isSchema(annotation)) {
    return sourceSpec(name, annotation, markerOfSchema(name, annotation, names, place), names, place);
  }
  const globals = globalThis as Record<string, unknown>;
  const global = GLOBAL_NAMES.find((key) => annotation !== undefined && annotation === globals[key]);
  if (global) {
    throw configurationError("TSGI_GLOBAL_CLASS_IN_PARAMS", place, global);
  }
  throw configurationError("TSGI_INVALID_ANNOTATION", place, describe(annotation));
}

function describe(value: unknown): string {
  if (typeof value === "function") return `the function ${value.name || "(anonymous)"}`;
  return value === null ? "null" : `a value of type ${typeof value}`;
}

function sourceSpec(
  name: string,
  annotation: unknown,
  marker: SourceMarker,
  names: readonly string[],
  place: string,
): ParamSpec {
  if (marker.kind === ParamKind.PATH && !names.includes(wireName(name, marker))) {
    throw configurationError("TSGI_PATH_PARAMETER_NOT_IN_PATTERN", place, wireName(name, marker));
  }
  const { schema } = marker;
  const compiled = schema && withPlace(place, () => compileSchema(schema));
  const absent = absenceOf(marker, compiled, place);
  const value = absent.isRequired ? undefined : absent.make(new Faults());
  return { name, kind: marker.kind, annotation, default: value instanceof Promise ? undefined : value, marker };
}

/** The specs of a callable: its params, and after them the pattern's other names for a handler. */
function compileSpecs(callable: Callable, params: Params, names: readonly string[], isHandler: boolean): ParamSpec[] {
  const of = nameOf(callable);
  const specs = Object.entries(params).map(([name, annotation]) => compileSpec(name, annotation, of, names));
  if (!isHandler) return specs;
  const declared = new Set(Object.keys(params));
  for (const name of names) {
    if (declared.has(name)) continue;
    const marker = new SourceMarker(ParamKind.PATH, null, {});
    specs.push({ name, kind: ParamKind.PATH, annotation: marker, default: undefined, marker });
  }
  return specs;
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

function compileStep(spec: ParamSpec, place: Place): DependencyStep {
  const marker = spec.marker as DependsMarker;
  const scopes = [...new Set([...place.scopes, ...marker.scopes])];
  const plan = compileDependency(marker.callable, { ...place, scopes });
  const isOriginal = marker.callable === place.original;
  const variant = `${isOriginal ? "original" : ""}|${usesScopes(plan) ? scopes.toSorted().join(" ") : ""}`;
  return {
    name: spec.name,
    plan,
    useCache: marker.useCache,
    scope: marker.scope,
    cacheKey: cacheKeyOf(marker.callable, variant),
    scopes,
    isOriginal,
  };
}

function usesScopes(plan: DependencyPlan): boolean {
  return (
    plan.specs.some((spec) => spec.annotation === SecurityScopes) ||
    plan.dependencies.some((step) => usesScopes(step.plan))
  );
}

function compileReadOf(spec: ParamSpec, place: Place, of: string): Read {
  const { name, kind } = spec;
  const source = () => ({ name, marker: spec.marker as SourceMarker, where: where(name, of) });
  switch (kind) {
    case ParamKind.REQUEST:
      return (call) => call.request;
    case ParamKind.WEBSOCKET:
      return (call) => call.websocket;
    case ParamKind.RESPONSE:
      return (call) => call.draft;
    case ParamKind.BACKGROUND:
      return (call) => call.background;
    case ParamKind.DEPENDS:
      return () => new SecurityScopes(place.scopes);
    case ParamKind.BODY:
      return compileBodyRead(source());
    case ParamKind.FORM:
      return compileFormRead(source());
    case ParamKind.FILE:
      return compileFileRead(source());
    default:
      return compileRead(source());
  }
}

/** Load the body for the parameters behind them. */
const JSON_STEPS: readonly Step[] = [
  { name: null, run: (call) => call.receiveBody() },
  { name: null, run: (call, { result }) => call.takeBody(result as ReceiveMessage | null) },
];
const FORM_STEPS: readonly Step[] = [{ name: null, run: (call) => call.loadForm() }];

function compilePlan(callable: Callable, specs: readonly ParamSpec[], place: Place): CallablePlan {
  const of = nameOf(callable);
  const headSteps: Step[] = [];
  const dependencies: DependencyStep[] = [];
  const bodySteps: Step[] = [];
  const takesPathParams = specs.length > 0 && specs.every((spec) => isPathText(spec));
  for (const spec of specs) {
    if (spec.marker instanceof DependsMarker) {
      dependencies.push(compileStep(spec, place));
      continue;
    }
    const isBody = BODY_KINDS.has(spec.kind);
    if (isBody && bodySteps.length === 0) {
      bodySteps.push(...(spec.kind === ParamKind.BODY ? JSON_STEPS : FORM_STEPS));
    }
    const step = { name: spec.name, run: compileReadOf(spec, place, of) };
    (isBody ? bodySteps : headSteps).push(step);
  }
  return {
    callable,
    name: of,
    isAsync: isAsyncFunction(callable),
    specs,
    needsNullPrototype: specs.some(({ name }) => name in Object.prototype),
    dependencies,
    takesPathParams,
    steps: takesPathParams ? [] : [...headSteps, ...compileDependencySteps(dependencies), ...bodySteps],
  };
}

/** Whether a parameter is a name of the pattern that nobody declared, or declared as `Path()`: text as it comes. */
function isPathText({ name, kind, marker }: ParamSpec): boolean {
  if (kind !== ParamKind.PATH || !(marker instanceof SourceMarker)) return false;
  return marker.schema === null && wireName(name, marker) === name;
}

/** Dependencies in the order of the params; neighbours without generators run side by side. */
function compileDependencySteps(dependencies: readonly DependencyStep[]): Step[] {
  const steps: Step[] = [];
  let side: DependencyStep[] = [];
  const flush = () => {
    if (side.length > 0) steps.push(side.length === 1 ? dependencyStep(side[0] as DependencyStep) : parallelStep(side));
    side = [];
  };
  for (const dependency of dependencies) {
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

/**
 * Compiles a dependency and everything below it.
 *
 * @throws RecursionError when it depends on itself, with the chain.
 */
export function compileDependency(callable: Callable, place: Place): DependencyPlan {
  if (place.chain.includes(callable)) {
    const chain = [...place.chain.slice(place.chain.indexOf(callable)), callable].map(nameOf).join(" → ");
    throw new RecursionError(messageOf("TSGI_CIRCULAR_DEPENDENCY.params", chain), { code: "TSGI_CIRCULAR_DEPENDENCY" });
  }
  const inner = { ...place, chain: [...place.chain, callable] };
  const specs = compileSpecs(callable, paramsOf(callable) ?? {}, place.names, false);
  const plan = compilePlan(callable, specs, inner);
  const shape = shapeOf(callable);
  return {
    ...plan,
    shape,
    hasGenerator: shape === "generator" || plan.dependencies.some((step) => step.plan.hasGenerator),
  };
}

/** The params of a route's handler: those that it carries and those of the route. */
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

/**
 * Compiles everything that a request to one route will need.
 *
 * @param names - The names of the whole pattern.
 * @param guards - The dependencies of App, routers and route, outside in.
 * @throws ConfigurationError when a parameter cannot work there.
 */
export function compileRoute(
  handler: Callable,
  names: readonly string[],
  params: Params,
  guards: readonly unknown[],
  protocol: Protocol | null = null,
): RoutePlan {
  const place: Place = { names, chain: [], scopes: [], original: null };
  const specs = compileSpecs(handler, mergeParams(handler, params), place.names, true);
  const plan = compilePlan(handler, specs, place);
  const guardSteps = guards.map((guard, index) => compileGuard(guard, index, place));
  const all = collectDependencies([...guardSteps, ...plan.dependencies]);
  assertScopesFit([...guardSteps, ...plan.dependencies]);
  const specsOfAll = [...all.flatMap((dependency) => dependency.specs), ...specs];
  const sources = specsOfAll.filter((spec) => spec.marker instanceof SourceMarker);
  assertOneBody(sources);
  if (protocol) assertProtocol(specsOfAll, protocol);
  return {
    guards: guardSteps,
    steps: [...guardSteps.flatMap((guard) => [{ ...dependencyStep(guard), name: null }, assertValid]), ...plan.steps],
    handler: plan,
    embedBody: embedsBody(sources),
    takesFiles: sources.some(({ kind }) => kind === ParamKind.FILE),
    mayHoldFiles: specsOfAll.some(({ kind }) => HOLDERS.has(kind)),
    sources,
    faultOrder: faultOrderOf(guardSteps, plan),
    allDependencies: all,
  };
}

/** Refuses what a request of this kind does not have: a WebSocket no body, an HTTP request no WebSocket. */
function assertProtocol(specs: readonly ParamSpec[], protocol: Protocol): void {
  for (const { name, kind } of specs) {
    if (!FOREIGN_KINDS[protocol].has(kind)) continue;
    if (protocol === "http") {
      throw configurationError("TSGI_WEBSOCKET_IN_HTTP_ROUTE", name);
    }
    throw configurationError("TSGI_REQUEST_IN_WEBSOCKET_ROUTE", name);
  }
}

function compileGuard(guard: unknown, index: number, place: Place): DependencyStep {
  if (!(guard instanceof DependsMarker)) {
    throw configurationError("TSGI_INVALID_DEPENDENCIES_ENTRY", index + 1, describe(guard));
  }
  const spec = { name: "", kind: ParamKind.DEPENDS, annotation: guard, default: undefined, marker: guard };
  return compileStep(spec, place);
}

function collectDependencies(steps: readonly DependencyStep[], found: DependencyPlan[] = []): DependencyPlan[] {
  for (const { plan } of steps) {
    collectDependencies(plan.dependencies, found);
    if (!found.some((known) => known.callable === plan.callable)) found.push(plan);
  }
  return found;
}

/** A generator that lives until after the response cannot use one that is closed before it. */
function assertScopesFit(steps: readonly DependencyStep[]): void {
  for (const { plan, scope } of steps) {
    for (const inner of plan.dependencies) {
      if (plan.shape === "generator" && scope === "request" && inner.scope === "function" && inner.plan.hasGenerator) {
        throw configurationError("TSGI_DEPENDENCY_SCOPE", plan.name, inner.plan.name);
      }
    }
    assertScopesFit(plan.dependencies);
  }
}

function assertOneBody(sources: readonly ParamSpec[]): void {
  const body = sources.find((spec) => spec.kind === ParamKind.BODY);
  const form = sources.find((spec) => spec.kind === ParamKind.FORM || spec.kind === ParamKind.FILE);
  if (body && form) {
    throw configurationError("TSGI_BODY_AND_FORM", body.name, form.name);
  }
}

function embedsBody(sources: readonly ParamSpec[]): boolean {
  const bodies = sources.filter((spec) => spec.kind === ParamKind.BODY);
  const names = new Set(bodies.map((spec) => wireName(spec.name, spec.marker as SourceMarker)));
  return names.size > 1 || bodies.some((spec) => (spec.marker as SourceMarker).options.embed === true);
}
