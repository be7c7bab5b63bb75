/** A check of access: tells if a route would reject a caller, without a request for it. @module */
import { dependencyStep } from "../parameters/dependencies/run-dependency.js";
import type { HTTPScope, Receive, Send } from "../protocol/asgi.js";
import { createBytes } from "../protocol/bytes.js";
import { Call } from "../parameters/dependencies/call.js";
import { createFindOverride } from "../parameters/dependencies/overrides.js";
import type { Endpoint } from "./endpoint.js";
import { type Life, live, type MountedScope, OVERRIDES } from "./life.js";
import type { CallablePlan, DependencyPlan, DependencyStep, RoutePlan } from "../parameters/dependencies/plan.js";
import { SourceMarker } from "../parameters/source.js";
import { type ErrorSettings, prepareResponse } from "./errors.js";
import { rollBackTransactions } from "./transactions.js";

const plans = new WeakMap<RoutePlan, CallablePlan>();

/**
 * Compiles the parts of a route that decide about the caller before the request is read: guards, and dependencies of
 * the handler that read credentials. One that reads the path, the query or a body decides on the single request, and is
 * left out.
 */
function compileAccess(plan: RoutePlan): CallablePlan {
  const known = plans.get(plan);
  if (known) return known;
  const asking = plan.handler.dependencies.filter((step) => takesCredentials(step.plan, step));
  const steps = [...plan.guards, ...asking].filter((step) => !readsRequest(step.plan));
  const nameless = steps.map((step) => ({ ...dependencyStep(step), name: null }));
  const compiled = { ...plan.handler, pathTexts: [], needsNullPrototype: false, steps: nameless };
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

const EMPTY_BODY: Receive = async () => ({ type: "http.request", body: createBytes(0), more_body: false });
const NOWHERE: Send = () => Promise.resolve();

/** Runs the guards of a route, and its dependencies that take credentials, but neither middleware nor the handler. */
class AccessLife implements Life<number | null> {
  readonly plan: CallablePlan;
  readonly handle = null;
  readonly #errors: ErrorSettings;

  constructor(route: RoutePlan, errors: ErrorSettings) {
    this.plan = compileAccess(route);
    this.#errors = errors;
  }

  async result(call: Call): Promise<null> {
    await call.closeFunctionScope(rollBackTransactions);
    call.discardTasks();
    return null;
  }

  /** Gives the status of the response. */
  async failure(call: Call, error: unknown): Promise<number> {
    const { response, sender } = await prepareResponse(error, call.request, this.#errors);
    await sender.cancel?.();
    call.discardTasks();
    return response.statusCode;
  }
}

/**
 * Returns the status with which a route would reject a caller for any request; `null` if it accepts the caller.
 * Runs the guards, and the dependencies that take credentials, but neither middleware nor the handler.
 *
 * @param scope - Of any request of the caller: its headers count.
 */
export function accessRefusal(endpoint: Endpoint, scope: HTTPScope & MountedScope): Promise<number | null> {
  const { record, pattern, plan, settings, errors, overrides } = endpoint;
  const own = { ...scope, method: record.method, path: pattern.template, path_params: {} };
  const find = createFindOverride([...(scope[OVERRIDES] ?? []), overrides], pattern.names);
  return live(new AccessLife(plan, errors), new Call(own, EMPTY_BODY, NOWHERE, settings), find);
}
