/** `dependencyOverrides`: replacements of dependencies, mainly for tests. @module */
import { messageOf } from "../../common/error-codes.js";
import { RecursionError } from "../../common/exceptions.js";
import type { Callable } from "../depends.js";
import { circleOf, compileDependency } from "./compile.js";
import { assertApplicationScope } from "./rules.js";
import type { DependencyPlan, DependencyStep, FindOverride, Named } from "./plan.js";

/** Notes that a request asked for a replacement. */
const MARK_USED: unique symbol = Symbol("markUsed");

/**
 * Dependencies and what is called in their place, with a note of those that were used.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 *
 * const getClock = () => new Date();
 * const app = new App();
 * app.dependencyOverrides.set(getClock, () => new Date(0));
 * console.log(app.dependencyOverrides.unused().length); // 1
 * ```
 */
export class DependencyOverrides extends Map<Callable, Callable> {
  readonly #used = new Set<Callable>();

  /** The originals whose replacement no request has asked for yet. */
  unused(): Callable[] {
    return [...this.keys()].filter((original) => !this.#used.has(original));
  }

  /** @internal */
  [MARK_USED](original: Callable): void {
    this.#used.add(original);
  }
}

/** Plans of replacements, by the step that they replace. */
type Replacements = WeakMap<DependencyStep, Map<Callable, DependencyPlan>>;

const replacements: Replacements = new WeakMap();

function planOf(step: DependencyStep, replacement: Callable, names: readonly string[]): DependencyPlan {
  let plans = replacements.get(step);
  if (!plans) replacements.set(step, (plans = new Map()));
  let plan = plans.get(replacement);
  if (!plan) {
    const { scopes, application, protocol } = step;
    const place = { names, chain: [], scopes, original: step.plan.callable, protocol, application };
    plan = compileDependency({ callable: replacement, role: step.plan.role }, place);
    if (step.scope === "app") assertApplicationScope(plan);
    plans.set(replacement, plan);
  }
  return plan;
}

/**
 * Creates the lookup of replacements for one call, the outermost App's overrides first; `null` without overrides.
 *
 * @param names - The names of the route's pattern, for replacements with path parameters.
 * @param isRequest - Whether a replacement that is found counts as used.
 */
export function createFindOverride(
  maps: readonly DependencyOverrides[],
  names: readonly string[],
  isRequest = true,
): FindOverride | null {
  const set = maps.filter((map) => map.size > 0);
  if (set.length === 0) return null;
  const checked = new Set<DependencyPlan>();
  const find = (step: DependencyStep, note: boolean): DependencyPlan => {
    for (const map of set) {
      const replacement = map.get(step.plan.callable);
      if (!replacement) continue;
      if (note) map[MARK_USED](step.plan.callable);
      return replacement === step.plan.callable ? step.plan : planOf(step, replacement, names);
    }
    return step.plan;
  };
  /** Follows the graph as the overrides make it: it may have a circle that no route has. */
  const assertNoCircle = (plan: DependencyPlan, chain: readonly Named[]): void => {
    const circle = circleOf(plan, chain);
    if (circle !== null) {
      throw new RecursionError(messageOf("TSGI_CIRCULAR_DEPENDENCY.overrides", circle), {
        code: "TSGI_CIRCULAR_DEPENDENCY",
      });
    }
    for (const step of plan.dependencies) {
      if (!step.isOriginal) assertNoCircle(find(step, false), [...chain, plan]);
    }
    checked.add(plan);
  };
  return (step) => {
    const plan = find(step, isRequest);
    if (!checked.has(plan)) assertNoCircle(plan, []);
    return plan;
  };
}
