/** The radix tree: one node a segment. @module */
import type { PatternSegment } from "./path-pattern.js";
import { decodeSegment } from "../protocol/path.js";

/** The key of a node's parameter child. No static segment is spelled like it: a pattern with `*` is refused. */
export const PARAM_KEY = "*";

/**
 * One node of the tree. The path from the first node to it is a pattern.
 *
 * @example
 * ```ts
 * import { RadixRouter } from "tsgi";
 *
 * const router = new RadixRouter<string>();
 * router.addRoute("GET", "/users/{id}", "read a user");
 * const users = router.root.children.get("users");
 * console.log(users?.children.get("*")?.paramName); // id
 * ```
 */
export class RadixNode<H = unknown, M = Record<string, unknown>> {
  /** The next nodes by their segment's text; `"*"` is the parameter child. */
  readonly children = new Map<string, RadixNode<H, M>>();
  /** The routes that end here, by method. */
  readonly handlers = new Map<string, readonly [handler: H, metadata: M]>();
  /** The parameters' names of each of those routes, by method, in the pattern's order. */
  readonly names = new Map<string, readonly string[]>();
  /** `true` for a parameter: any one non-empty segment leads here. */
  readonly isParam: boolean;
  /** The name that the first route uses for this parameter; `null` for a static node. */
  readonly paramName: string | null;

  constructor(paramName: string | null = null) {
    this.isParam = paramName !== null;
    this.paramName = paramName;
  }

  /** The parameter child. */
  get paramChild(): RadixNode<H, M> | undefined {
    return this.children.get(PARAM_KEY);
  }
}

/** The child of a node for a pattern's segment, made when it is not there yet. */
export function childFor<H, M>({ children }: RadixNode<H, M>, segment: PatternSegment): RadixNode<H, M> {
  const key = segment.isParam ? PARAM_KEY : segment.text;
  let child = children.get(key);
  if (child === undefined) {
    child = new RadixNode<H, M>(segment.isParam ? segment.text : null);
    children.set(key, child);
  }
  return child;
}

/** The values of a path's parameters by name. Names such as `__proto__` and `constructor` are ordinary. */
export type PathParams = Record<string, string>;

/**
 * The result of `resolve`: the handler, the parameters of this lookup, and the route's own metadata. A route without
 * parameters always returns the same frozen object: creating a new one would take a third of such a lookup's time.
 */
export type Resolved<H, M> = readonly [handler: H, pathParams: PathParams, metadata: M];

/** A registered route. */
export interface Route<H, M> {
  readonly handler: H;
  readonly metadata: M;
  /** The pattern's segments: static text in the canonical form, or `null` for a parameter. */
  readonly texts: readonly (string | null)[];
  /** The parameters' names in the pattern's order. */
  readonly names: readonly string[];
  /** For each name the index of its segment. */
  readonly positions: readonly number[];
}

/** An ordinary object cannot hold these names: `__proto__` would set its prototype. */
export function needsNullPrototype(names: readonly string[]): boolean {
  return names.some((name) => name in Object.prototype);
}

/** The prototype of parameters one of which has the name of something that every object inherits. */
export const NULL_PROTO: object = Object.freeze(Object.create(null) as object);

/** Makes the object of a result's parameters. */
export function createParams(names: readonly string[]): PathParams {
  return needsNullPrototype(names) ? (Object.create(NULL_PROTO) as PathParams) : {};
}

/** The parameters of a path without any. Shared by all such results, so it is read-only. */
const NO_PARAMS: PathParams = Object.freeze({});

/** The one result of a route without parameters. */
export function fixedResult<H, M>(handler: H, metadata: M): Resolved<H, M> {
  return Object.freeze([handler, NO_PARAMS, metadata] as const);
}

/** Looks up a path that starts with a slash. */
export type Find<H, M> = (path: string) => Resolved<H, M> | null;

/** The result of a route for the segments of a path that it matches. */
export function resultOf<H, M>(route: Route<H, M>, segments: readonly string[]): Resolved<H, M> {
  const params = createParams(route.names);
  for (let index = 0; index < route.names.length; index++) {
    // Both lists have one entry a parameter, and a path that matches has one segment for each of the pattern's.
    params[route.names[index]!] = decodeSegment(segments[route.positions[index]!]!);
  }
  return [route.handler, params, route.metadata];
}

/** Cuts a path that starts with a slash at its slashes; `null` when it has more segments than any route. */
export function cutPath(path: string, maxSegments: number): string[] | null {
  if (path.charCodeAt(0) !== 0x2f) return null;
  const segments: string[] = [];
  let start = 1;
  for (let end = path.indexOf("/", start); end !== -1; end = path.indexOf("/", start)) {
    if (segments.length >= maxSegments) return null;
    segments.push(path.slice(start, end));
    start = end + 1;
  }
  segments.push(path.slice(start));
  return segments;
}
