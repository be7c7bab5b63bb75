import type { DependencyStep, RoutePlan } from "../dependencies.js";
import { configurationError } from "../exceptions.js";
import { IS_NAMED, SecurityScheme, type SecuritySchemeObject } from "../security.js";
import { freeName } from "./naming.js";
import type { SecurityRequirementObject } from "./types.js";

/** The schemes of a route, each with the scopes that the route asks of it. */
type AskedScopes = Map<SecurityScheme, Set<string>>;

function collect(steps: readonly DependencyStep[], asked: AskedScopes): AskedScopes {
  for (const { plan, scopes } of steps) {
    const { callable } = plan;
    if (callable instanceof SecurityScheme) {
      const known = asked.get(callable) ?? new Set();
      asked.set(callable, known);
      for (const scope of scopes) known.add(scope);
    }
    collect(plan.dependencies, asked);
  }
  return asked;
}

/** The security schemes of a document, each under a name of its own. */
export class SecuritySchemes {
  readonly #asked: ReadonlyMap<RoutePlan, AskedScopes>;
  readonly #names = new Map<SecurityScheme, string>();
  /** Copies, to which scopes are added. */
  readonly #definitions = new Map<string, SecuritySchemeObject>();

  /**
   * @param plans - The routes of the document.
   * @throws ConfigurationError when two different schemes were given one name.
   */
  constructor(plans: readonly RoutePlan[]) {
    this.#asked = new Map(
      plans.map((plan) => [plan, collect([...plan.guards, ...plan.handler.dependencies], new Map())]),
    );
    const schemes = new Set([...this.#asked.values()].flatMap((asked) => [...asked.keys()]));
    // Names that were chosen come first: one that is made up gives way to them.
    for (const scheme of [...schemes].toSorted((left, right) => Number(right[IS_NAMED]) - Number(left[IS_NAMED]))) {
      this.#enter(scheme, schemes);
    }
    for (const asked of this.#asked.values()) {
      for (const [scheme, scopes] of asked) this.#addScopes(scheme, scopes);
    }
  }

  #enter(scheme: SecurityScheme, all: ReadonlySet<SecurityScheme>): void {
    const { schemeName: base, definition } = scheme;
    const twin = [...all].find((other) => this.#names.has(other) && isSame(other, scheme));
    if (twin) {
      this.#names.set(scheme, this.#names.get(twin) as string);
      return;
    }
    if (scheme[IS_NAMED] && this.#definitions.has(base))
      throw configurationError("TSGI_DUPLICATE_SECURITY_SCHEME", base);
    const name = freeName(base, this.#definitions);
    this.#names.set(scheme, name);
    this.#definitions.set(name, structuredClone(definition));
  }

  /** A client must be able to ask for every scope, also for one that the flows do not name. */
  #addScopes(scheme: SecurityScheme, scopes: ReadonlySet<string>): void {
    const definition = this.#definitions.get(this.#names.get(scheme) as string);
    if (definition?.type !== "oauth2") return;
    for (const flow of Object.values(definition.flows)) {
      for (const scope of scopes) flow.scopes[scope] ??= "";
    }
  }

  /**
   * The requirements of a route: all schemes that refuse by themselves, together; each that leaves that to others is another
   * way to what the route may still allow without it.
   */
  of(plan: RoutePlan): SecurityRequirementObject[] {
    const required: SecurityRequirementObject = {};
    const others: SecurityRequirementObject = {};
    for (const [scheme, scopes] of this.#asked.get(plan) ?? []) {
      // Of scopes only OAuth knows, §4.7.30.
      const takesScopes = scheme.definition.type === "oauth2" || scheme.definition.type === "openIdConnect";
      const name = this.#names.get(scheme) as string;
      const list = scheme.autoError ? required : others;
      list[name] = [...new Set([...(list[name] ?? []), ...(takesScopes ? scopes : [])])];
    }
    const alternatives = Object.entries(others).map(([name, scopes]) => ({ ...required, [name]: scopes }));
    return Object.keys(required).length > 0 ? [required, ...alternatives] : alternatives;
  }

  /** Every scheme that a route asks for, in the order of their names. */
  get definitions(): Record<string, SecuritySchemeObject> {
    return Object.fromEntries([...this.#definitions].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }
}

function isSame(left: SecurityScheme, right: SecurityScheme): boolean {
  return left.schemeName === right.schemeName && JSON.stringify(left.definition) === JSON.stringify(right.definition);
}

/** Tells if a request without credentials is answered with 401 before the handler is called. */
export function refusesStrangers(plan: RoutePlan): boolean {
  return plan.allDependencies.some(({ callable }) => callable instanceof SecurityScheme && callable.autoError);
}
