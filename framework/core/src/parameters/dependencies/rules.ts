/** The rules for parameters that depend on more than one of them: scopes, the protocol, one body. @module */
import { configurationError } from "../../common/exceptions.js";
import { DependsMarker } from "../depends.js";
import { ParamKind } from "../marker.js";
import { canBothMatch, isAnyText, type Rooted } from "../../schema/compatible.js";
import {
  type CallablePlan,
  type DependencyPlan,
  type DependencyStep,
  nameOf,
  type ParamSpec,
  type Protocol,
  type SourceSpec,
} from "./plan.js";
import { bodyOf, protocolOf } from "./specs.js";

/**
 * Rejects parameters that a dependency of scope `"app"` cannot have: everything that belongs to a request. Its
 * `AbortSignal` is the application's.
 */
export function assertApplicationScope(plan: DependencyPlan): void {
  for (const spec of plan.specs) {
    if (spec.kind === ParamKind.SIGNAL || (spec.marker instanceof DependsMarker && spec.marker.scope === "app"))
      continue;
    const what = spec.marker instanceof DependsMarker ? `of scope "${spec.marker.scope}"` : "of a request";
    throw configurationError("TSGI_DEPENDENCY_SCOPE.app", nameOf(plan), spec.name, what);
  }
}

/**
 * Rejects parameters that a request of this kind does not have: a body for a WebSocket, a WebSocket for an HTTP
 * request.
 *
 * @param way - The dependencies on the way here, by the names of the parameters.
 */
export function assertProtocol(
  { specs, dependencies }: Pick<CallablePlan, "specs" | "dependencies">,
  protocol: Protocol,
  way = "",
): void {
  for (const spec of specs) {
    const only = protocolOf(spec);
    if (only === undefined || only === protocol) continue;
    const code = only === "http" ? "TSGI_REQUEST_IN_WEBSOCKET_ROUTE" : "TSGI_WEBSOCKET_IN_HTTP_ROUTE";
    if (way === "") throw configurationError(`${code}.handler`, spec.name);
    const what = bodyOf(spec) === null ? `a ${(spec.annotation as { name: string }).name}` : "a body";
    throw configurationError(`${code}.dependency`, way, what);
  }
  for (const { name, plan } of dependencies) {
    assertProtocol(plan, protocol, `${way} → ${name || nameOf(plan)}`);
  }
}

/** A generator that lives until after the response cannot use one that is closed before it. */
export function assertScopesFit(steps: readonly DependencyStep[]): void {
  for (const { plan, scope } of steps) {
    for (const inner of plan.dependencies) {
      if (plan.shape !== "generator" || scope !== "request") continue;
      if (inner.plan.holdsTransaction)
        throw configurationError("TSGI_DEPENDENCY_SCOPE.transactional", nameOf(plan), nameOf(inner.plan));
      if (inner.scope === "function" && inner.plan.hasGenerator) {
        throw configurationError("TSGI_DEPENDENCY_SCOPE.closed", nameOf(plan), nameOf(inner.plan));
      }
    }
    assertScopesFit(plan.dependencies);
  }
}

function isForm(spec: ParamSpec): boolean {
  const body = bodyOf(spec);
  return body === "form" || body === "multipart";
}

/** A request has one body: JSON, or a form. */
export function assertOneBody(sources: readonly SourceSpec[]): void {
  const body = sources.find((spec) => bodyOf(spec) === "json");
  const form = sources.find(isForm);
  if (body && form) throw configurationError("TSGI_BODY_AND_FORM", body.name, form.name);
}

/** One name in the request, with the schema by which a parameter reads it. */
interface Reading extends Rooted {
  readonly place: string;
  readonly name: string;
  readonly isText: boolean;
}

function readingsOf({ name, marker }: SourceSpec): Reading[] {
  const { source, compiled, options } = marker;
  const root = compiled.json;
  if (root === null || source.body === "multipart") return [];
  if (options.includeInSchema === false && !source.isInPattern) return [];
  const isText = source.body !== "json";
  if (!source.readsProperties || !compiled.properties) {
    return [{ place: source.loc, name: marker.wireName(name), schema: root, root, isText }];
  }
  return Array.from(compiled.properties, ([key, schema]) => {
    return { place: source.loc, name: source.wireName(key), schema, root, isText };
  });
}

/** Any string that another schema can convert is also a string. */
function conflict(left: Reading, right: Reading): boolean {
  if (left.isText && (isAnyText(left.schema) || isAnyText(right.schema))) return false;
  return !canBothMatch(left, right);
}

/** A value that the handler and its dependencies read must be able to match the schemas of all of them. */
export function assertCompatible(sources: readonly SourceSpec[]): void {
  const known = new Map<string, Reading[]>();
  for (const reading of sources.flatMap(readingsOf)) {
    const { place, name } = reading;
    const key = `${place} ${name}`;
    const others = known.get(key) ?? [];
    if (others.some((other) => conflict(other, reading))) {
      throw configurationError("TSGI_CONFLICTING_SCHEMAS", place, name);
    }
    known.set(key, [...others, reading]);
  }
}
