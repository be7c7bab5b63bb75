/** The radix tree: one node a segment. @module */
import type { PatternSegment } from "./path-pattern.js";

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
