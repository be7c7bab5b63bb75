/** The router: a radix tree keyed by path segments, and lookups in time linear in a path's segments. @module */
import { configurationError } from "../common/exceptions.js";
import { determinize, readRoutes, runDfa, WORK_PER_SEGMENT } from "./dfa.js";
import { decodeSegment, splitPath } from "../protocol/path.js";
import { PathPattern } from "./path-pattern.js";
import { childFor, RadixNode, type Find, NULL_PROTO, type Resolved, type Route } from "./radix-node.js";
import { compileCode } from "../common/generated-code.js";
import { runBitParallel } from "./bit-parallel.js";
import type { CodeBuilder } from "./code-builder.js";
import { emitDfa } from "./emit-dfa.js";

/** Options of a lookup. */
export interface LookupOptions {
  /** Allows generated code. */
  readonly compile: boolean;
  /** Work that the construction of the automaton may take for each segment of the routes with parameters. */
  readonly workPerSegment: number;
}

/** The lookup of one method's routes. */
export interface Lookup<H, M> {
  /** Results of the routes without parameters by their whole path, where every lookup begins. */
  readonly fixed: ReadonlyMap<string, Resolved<H, M>>;
  /** Length of the longest of these paths: a longer one need not be hashed. */
  readonly longestFixed: number;
  /** Finds the route of any other path; `null` if no route matches its exact spelling. */
  readonly find: Find<H, M>;
  /** `false`: past the bound, the routes are simulated. */
  readonly isDeterministic: boolean;
}

/** Prepares the lookup of one method. */
export function createLookup<H, M>(tree: RadixNode<H, M>, method: string, options: LookupOptions): Lookup<H, M> {
  const { fixed, open, start } = readRoutes(tree, method);
  const longestFixed = [...fixed.keys()].reduce((longest, path) => Math.max(longest, path.length), 0);
  if (start === null) return { fixed, longestFixed, find: findNothing, isDeterministic: true };
  const byLength = groupByLength(open);
  const segments = open.reduce((sum, route) => sum + route.texts.length, 0);
  const dfa = determinize(start, segments * options.workPerSegment);
  if (dfa === null) return { fixed, longestFixed, find: runBitParallel(byLength), isDeterministic: false };
  const code = options.compile ? emitDfa(dfa) : null;
  const find = (code && toFunction(code)) ?? runDfa(dfa, Math.max(...byLength.keys()));
  return { fixed, longestFixed, find, isDeterministic: true };
}

const findNothing = () => null;

function toFunction<H, M>(code: CodeBuilder<H, M>): Find<H, M> | null {
  return compileCode(code.toString(), { routes: code.routes, nullProto: NULL_PROTO, decode: decodeSegment });
}

function groupByLength<H, M>(routes: readonly Route<H, M>[]): Map<number, Route<H, M>[]> {
  const byLength = new Map<number, Route<H, M>[]>();
  for (const route of routes) {
    const sameLength = byLength.get(route.texts.length) ?? [];
    sameLength.push(route);
    byLength.set(route.texts.length, sameLength);
  }
  return byLength;
}

/** Options of a `RadixRouter`. */
export interface RadixRouterOptions {
  /** Every slash counts, so that `/ws` and `/ws/` are two paths (WebSocket). Defaults to `false`. */
  readonly exact?: boolean;
  /** Allows generated code (`new Function`) where the runtime does. Defaults to `true`. */
  readonly compile?: boolean;
  /** Work for each segment that making a method's routes deterministic may take, before they are simulated. Defaults to 8. */
  readonly workPerSegment?: number;
}

/**
 * Finds the route of a method and a path. A segment of a pattern is static text or `{name}`; static takes precedence at
 * each segment, but if a static segment leads to no route of the method, the parameter is tried.
 *
 * Paths and the static text of patterns are in the canonical form that `canonicalPath` makes.
 *
 * @example
 * ```ts
 * import { RadixRouter } from "tsgi";
 *
 * const router = new RadixRouter<string>();
 * router.addRoute("GET", "/users/{id}", "one user", { tags: ["users"] });
 * router.resolve("GET", "/users/7"); // ["one user", { id: "7" }, { tags: ["users"] }]
 * router.resolve("GET", "/users"); // null
 * ```
 */
export class RadixRouter<H = unknown, M = Record<string, unknown>> {
  /** The first node of the tree. To be read only: routes are added by `addRoute`. */
  readonly root = new RadixNode<H, M>();
  readonly #options: RadixRouterOptions;
  /** The lookup of each method that has a route; `null` until it is needed, and again after a new route. */
  readonly #lookups = new Map<string, Lookup<H, M> | null>();

  /** The lookup of GET once more: finding it in a `Map` of methods would take a quarter of the time of a static path. */
  #lookupOfGet: Lookup<H, M> | null = null;

  constructor(options: RadixRouterOptions = {}) {
    this.#options = options;
  }

  /**
   * Adds a route. It counts from the next lookup on.
   *
   * @param method - As requests spell it: ASGI's methods are in upper case.
   * @param path - The pattern. The slashes at its ends carry no segments, unless the router is `exact`.
   * @param metadata - Given back by `resolve`, the same object. Defaults to an empty one.
   * @throws ConfigurationError if the pattern is rejected, or already exists for the method with any names.
   */
  addRoute(method: string, path: string | PathPattern, handler: H, metadata: M = {} as M): void {
    const pattern = path instanceof PathPattern ? path : PathPattern.parse(path, method, this.#options);
    let node = this.root;
    for (const segment of pattern.segments) node = childFor(node, segment);
    if (node.handlers.has(method)) throw configurationError("TSGI_DUPLICATE_ROUTE", method, pattern.text);
    node.handlers.set(method, [handler, metadata]);
    node.names.set(method, pattern.names);
    this.#lookups.set(method, null);
    this.#lookupOfGet = null;
  }

  /**
   * Looks a path up.
   *
   * @param path - In the canonical form. Empty segments are dropped first, unless the router is `exact`.
   * @returns The handler, the parameters' decoded values in a new object, and the metadata; `null` if no route matches.
   */
  resolve(method: string, path: string): Resolved<H, M> | null {
    const kept = method === "GET" ? this.#lookupOfGet : null;
    const lookup = kept ?? this.#lookups.get(method) ?? this.#prepareLookup(method);
    if (lookup === null) return null;
    const fixed = path.length <= lookup.longestFixed ? lookup.fixed.get(path) : undefined;
    return fixed ?? lookup.find(path) ?? this.#resolveSpelledOtherwise(method, path);
  }

  /** The methods that have a route for the path, sorted, `HEAD` among them when `GET` is: the value of `Allow`. */
  allowedMethods(path: string): string[] {
    const methods = new Set<string>();
    for (const method of this.#lookups.keys()) {
      if (this.resolve(method, path) !== null) methods.add(method);
    }
    if (methods.has("GET")) methods.add("HEAD");
    return [...methods].toSorted();
  }

  /**
   * Prepares the lookups of every method now; without it each is prepared on its first use.
   *
   * @returns One log line for each method whose routes exceed the limit; usually empty.
   */
  prepare(): string[] {
    const lines: string[] = [];
    for (const method of this.#lookups.keys()) {
      if ((this.#lookups.get(method) ?? this.#prepareLookup(method))?.isDeterministic === false) {
        lines.push(
          `The ${method} routes branch too much to prepare each way through them (more than ${this.#options.workPerSegment ?? WORK_PER_SEGMENT} steps for each segment): their lookups compare bit masks, in time proportional to segments × routes / 32.`,
        );
      }
    }
    return lines;
  }

  /** Prepares the lookup of a method; `null` for one without routes. */
  #prepareLookup(method: string): Lookup<H, M> | null {
    if (!this.#lookups.has(method)) return null;
    const lookup = createLookup(this.root, method, {
      compile: this.#options.compile ?? true,
      workPerSegment: this.#options.workPerSegment ?? WORK_PER_SEGMENT,
    });
    this.#lookups.set(method, lookup);
    if (method === "GET") this.#lookupOfGet = lookup;
    return lookup;
  }

  /** A path without an empty segment to drop was looked up already. */
  #resolveSpelledOtherwise(method: string, path: string): Resolved<H, M> | null {
    if (path.charCodeAt(0) === 0x2f && (this.#options.exact || !(path.endsWith("/") || path.includes("//")))) {
      return null;
    }
    const spelled = `/${splitPath(path, this.#options).join("/")}`;
    return spelled === path ? null : this.resolve(method, spelled);
  }
}
