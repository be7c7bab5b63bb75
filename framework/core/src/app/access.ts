/** The part of a route that decides on its caller: guards, and dependencies with credentials. @module */
import type { CallablePlan, DependencyPlan, DependencyStep, RoutePlan } from "../parameters/dependencies/plan.js";
import { dependencyStep } from "../parameters/dependencies/run-dependency.js";
import { SourceMarker } from "../parameters/source.js";

const plans = new WeakMap<RoutePlan, CallablePlan>();

/**
 * Compiles what of a route decides on its caller before it reads what is asked: guards, and dependencies of the handler that
 * take credentials. One that reads the path, the query or a body decides on the single request, and is left out.
 */
export function compileAccess(plan: RoutePlan): CallablePlan {
  const known = plans.get(plan);
  if (known) return known;
  const asking = plan.handler.dependencies.filter((step) => takesCredentials(step.plan, step));
  const steps = [...plan.guards, ...asking].filter((step) => !readsRequest(step.plan));
  const nameless = steps.map((step) => ({ ...dependencyStep(step), name: null }));
  const compiled = { ...plan.handler, takesPathParams: false, needsNullPrototype: false, steps: nameless };
  plans.set(plan, compiled);
  return compiled;
}

function takesCredentials(plan: DependencyPlan, { scopes }: Pick<DependencyStep, "scopes">): boolean {
  if (scopes.length > 0 || plan.takesCredentials) return true;
  return plan.dependencies.some((step) => takesCredentials(step.plan, step));
}

function readsRequest({ specs, dependencies }: DependencyPlan): boolean {
  const reads = specs.some(({ marker }) => {
    if (!(marker instanceof SourceMarker)) return false;
    const { body, in: place } = marker.source;
    return body !== null || place === "path" || (place === "query" && marker.options.includeInSchema !== false);
  });
  return reads || dependencies.some((step) => readsRequest(step.plan));
}
