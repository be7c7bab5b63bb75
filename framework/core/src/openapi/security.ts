/** Security requirements of the OpenAPI document, from the schemes that a route depends on. @module */
import type { DependencyPlan, DependencyStep, RoutePlan } from "../parameters/dependencies/plan.js";
import { configurationError } from "../common/exceptions.js";
import { IS_NAMED, SecurityScheme, type SecuritySchemeObject } from "../parameters/security/scheme.js";
import { SecurityScopes } from "../parameters/annotation.js";
import { freeName } from "./naming.js";
import type { SecurityRequirementObject } from "./types.js";

/** Scopes by the scheme that they are asked of. */
type Scopes = Map<SecurityScheme, Set<string>>;

/** The schemes that dependencies need. */
interface Asked {
  /** Those that refuse by themselves: a request needs them all. */
  readonly required: Scopes;
  /** Those with `autoError: false`: a dependency, or the handler, decides without them. */
  readonly lenient: Scopes;
  /** The schemes of each optional dependency. */
  readonly optional: Asked[];
  /** `true` if a dependency checks the scopes of a lenient scheme: a caller without credentials has no scopes. */
  checksScopes: boolean;
}

function createAsked(): Asked {
  return { required: new Map(), lenient: new Map(), optional: [], checksScopes: false };
}

/** @param checksScopes - Whether a dependency above checks scopes. */
function collect(steps: readonly DependencyStep[], asked: Asked, checksScopes = false): Asked {
  for (const { plan, scopes, schemes } of steps) {
    const into = schemes === null ? asked : createAsked();
    if (schemes !== null) asked.optional.push(into);
    const callable: unknown = plan.callable;
    if (isScheme(callable)) {
      add(callable, scopes, into);
      if (checksScopes && !callable.autoError) into.checksScopes = true;
    }
    collect(plan.dependencies, into, checksScopes || readsScopes(plan));
  }
  return asked;
}

function readsScopes({ specs }: DependencyPlan): boolean {
  return specs.some(({ annotation }) => annotation === SecurityScopes);
}

function isScheme(callable: unknown): callable is SecurityScheme {
  return callable instanceof SecurityScheme;
}

function add(scheme: SecurityScheme, scopes: readonly string[], asked: Asked): void {
  const list = scheme.autoError ? asked.required : asked.lenient;
  list.set(scheme, new Set([...(list.get(scheme) ?? []), ...scopes]));
  if (!scheme.autoError && scopes.length > 0) asked.checksScopes = true;
}

/** Every scheme, including those of optional dependencies. */
function schemesOf({ required, lenient, optional }: Asked): [SecurityScheme, ReadonlySet<string>][] {
  return [...required, ...lenient, ...optional.flatMap(schemesOf)];
}

/** The security schemes of a document, each under a unique name. */
export class SecuritySchemes {
  readonly #asked: ReadonlyMap<RoutePlan, Asked>;
  readonly #names = new Map<SecurityScheme, string>();
  /** Copies, to which scopes are added. */
  readonly #definitions = new Map<string, SecuritySchemeObject>();

  /**
   * @param plans - The routes of the document.
   * @throws ConfigurationError when two different schemes were given one name.
   */
  constructor(plans: readonly RoutePlan[]) {
    this.#asked = new Map(
      plans.map((plan) => [plan, collect([...plan.guards, ...plan.handler.dependencies], createAsked())]),
    );
    const all = [...this.#asked.values()].flatMap(schemesOf);
    const schemes = new Set(all.flatMap(([scheme]) => [scheme, scheme.beside ?? scheme]));
    // Explicit names take precedence over generated ones.
    for (const scheme of [...schemes].toSorted((left, right) => Number(right[IS_NAMED]) - Number(left[IS_NAMED]))) {
      this.#enter(scheme, schemes);
    }
    for (const [scheme, scopes] of all) this.#addScopes(scheme, scopes);
  }

  #enter(scheme: SecurityScheme, all: ReadonlySet<SecurityScheme>): void {
    const { schemeName: base, definition } = scheme;
    const twin = [...all].find((other) => this.#names.has(other) && isSame(other, scheme));
    if (twin) {
      this.#names.set(scheme, this.#nameOf(twin));
      return;
    }
    if (scheme[IS_NAMED] && this.#definitions.has(base))
      throw configurationError("TSGI_DUPLICATE_SECURITY_SCHEME", base);
    const name = freeName(base, this.#definitions);
    this.#names.set(scheme, name);
    this.#definitions.set(name, structuredClone(definition));
  }

  #nameOf(scheme: SecurityScheme): string {
    return this.#names.get(scheme) ?? scheme.schemeName;
  }

  /** A client must be able to request every scope, even one that the flows do not list. */
  #addScopes(scheme: SecurityScheme, scopes: ReadonlySet<string>): void {
    const definition = this.#definitions.get(this.#nameOf(scheme));
    if (definition?.type !== "oauth2") return;
    for (const flow of Object.values(definition.flows)) {
      for (const scope of scopes) flow.scopes[scope] ??= "";
    }
  }

  /** The alternatives by which a request may use a route. An empty one is a request without credentials. */
  of(plan: RoutePlan): SecurityRequirementObject[] {
    const asked = this.#asked.get(plan);
    return asked ? this.#alternativesOf(asked) : [];
  }

  /**
   * All schemes that refuse by themselves, together; with them each lenient scheme, and the schemes of each optional
   * dependency. A scheme that is required is not listed again as optional. Of several lenient schemes one is expected: then
   * a request without credentials is not an alternative.
   */
  #alternativesOf({ required, lenient, optional, checksScopes }: Asked): SecurityRequirementObject[] {
    const needed = this.#requirementOf(required);
    const oneOf = [...lenient].map((entry) => this.#requirementOf([entry]));
    const others = optional.flatMap((asked) => this.#alternativesOf(asked));
    const expected = distinct(oneOf, needed);
    const added = distinct([...oneOf, ...others], needed).map((more) => ({ ...needed, ...more }));
    const isEnough = Object.keys(needed).length > 0 || (added.length > 0 && expected.length < 2 && !checksScopes);
    return isEnough ? [needed, ...added] : added;
  }

  #requirementOf(schemes: Iterable<[SecurityScheme, ReadonlySet<string>]>): SecurityRequirementObject {
    const requirement: SecurityRequirementObject = {};
    for (const [scheme, scopes] of schemes) {
      // Of scopes only OAuth knows, §4.7.30.
      const takesScopes = scheme.definition.type === "oauth2" || scheme.definition.type === "openIdConnect";
      const name = this.#nameOf(scheme);
      requirement[name] = [...new Set([...(requirement[name] ?? []), ...(takesScopes ? scopes : [])])];
    }
    return requirement;
  }

  /** Every scheme that a route asks for, in the order of their names. */
  get definitions(): Record<string, SecuritySchemeObject> {
    return Object.fromEntries([...this.#definitions].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }
}

function isSame(left: SecurityScheme, right: SecurityScheme): boolean {
  return left.schemeName === right.schemeName && JSON.stringify(left.definition) === JSON.stringify(right.definition);
}

/** Requirements without the schemes that are needed already, each set of schemes once with all of its scopes. */
function distinct(
  requirements: readonly SecurityRequirementObject[],
  needed: SecurityRequirementObject,
): SecurityRequirementObject[] {
  const found = new Map<string, SecurityRequirementObject>();
  for (const requirement of requirements) {
    const entries = Object.entries(requirement).filter(([name]) => !(name in needed));
    if (entries.length === 0) continue;
    const key = JSON.stringify(entries.map(([name]) => name).toSorted());
    const known = found.get(key);
    const merged = entries.map(([name, scopes]) => [name, [...new Set([...(known?.[name] ?? []), ...scopes])]]);
    found.set(key, Object.fromEntries(merged) as SecurityRequirementObject);
  }
  return [...found.values()];
}

/**
 * The statuses of the errors of a route's schemes: 401 if one rejects requests, or belongs to an optional dependency, and 403 if
 * one that verifies its credentials is asked for scopes.
 */
export function refusalsOf({ guards, handler, allDependencies }: RoutePlan): ReadonlySet<number> {
  const statuses = new Set<number>();
  const steps = [...guards, ...handler.dependencies, ...allDependencies.flatMap(({ dependencies }) => dependencies)];
  for (const { plan, schemes, scopes } of steps) {
    const scheme = isScheme(plan.callable) ? plan.callable : null;
    if (schemes || scheme?.autoError) statuses.add(401);
    if (scheme && scopes.length > 0 && readsScopes(plan)) statuses.add(403);
  }
  return statuses;
}
