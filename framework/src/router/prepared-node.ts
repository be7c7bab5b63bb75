/**
 * The prepared nodes of one method: the tree made deterministic. One of them stands for all the tree's nodes that the
 * segments so far lead to, in order of precedence, so that a look-up never goes back. @module
 */
import type { RadixNode } from "./radix-node.js";
import { PARAM_KEY } from "./radix-node.js";
import { cutPath, resultOf } from "./route.js";
import type { Find, Route } from "./route.js";

/**
 * How many of the tree's nodes the prepared nodes of a method may stand for, in all, for each segment of its patterns.
 * An ordinary route set needs about one; a set built to explode is given up after this much work.
 */
export const PREPARED_PER_SEGMENT = 64;

/** Where the segments so far lead. */
export interface PreparedNode<H, M> {
  /** The next node by the segment's text. */
  readonly statics: Map<string, PreparedNode<H, M>>;
  /** The next node for any other non-empty segment. */
  param: PreparedNode<H, M> | null;
  /** The route of a path that ends here. */
  readonly route: Route<H, M> | null;
}

/** The nodes of the tree that lead to the routes in question, with the route that ends at each, if one does. */
export type Relevant<H, M> = ReadonlyMap<RadixNode<H, M>, { readonly id: number; readonly route: Route<H, M> | null }>;

/** The tree's nodes that one prepared node stands for, and the prepared node. */
interface Pending<H, M> {
  readonly members: readonly RadixNode<H, M>[];
  readonly node: PreparedNode<H, M>;
}

/**
 * Makes the prepared nodes, one level of the tree after the other.
 *
 * @param bound - The most that the prepared nodes may stand for, in nodes of the tree.
 * @returns The first of them, or `null` past the bound.
 */
export function prepareNodes<H, M>(
  root: RadixNode<H, M>,
  relevant: Relevant<H, M>,
  bound: number,
): PreparedNode<H, M> | null {
  let work = 0;
  let level: Pending<H, M>[] = [{ members: [root], node: emptyNode([root], relevant) }];
  const first = level[0]?.node ?? null;
  while (level.length > 0) {
    const next = new Map<string, Pending<H, M>>();
    const pendingFor = (members: readonly RadixNode<H, M>[]): PreparedNode<H, M> => {
      const key = members.map((member) => relevant.get(member)?.id).join();
      let pending = next.get(key);
      if (pending === undefined) {
        work += members.length;
        pending = { members, node: emptyNode(members, relevant) };
        next.set(key, pending);
      }
      return pending.node;
    };
    for (const { members, node } of level) {
      link(node, members, relevant, pendingFor);
      if (work > bound) {
        return null;
      }
    }
    level = [...next.values()];
  }
  return first;
}

function emptyNode<H, M>(members: readonly RadixNode<H, M>[], relevant: Relevant<H, M>): PreparedNode<H, M> {
  let route: Route<H, M> | null = null;
  for (const member of members) {
    route ??= relevant.get(member)?.route ?? null;
  }
  return { statics: new Map(), param: null, route };
}

/** Joins a prepared node to those that each possible next segment leads to. */
function link<H, M>(
  node: PreparedNode<H, M>,
  members: readonly RadixNode<H, M>[],
  relevant: Relevant<H, M>,
  pendingFor: (members: readonly RadixNode<H, M>[]) => PreparedNode<H, M>,
): void {
  const texts = new Set<string>();
  for (const member of members) {
    for (const [text, child] of member.children) {
      if (text !== PARAM_KEY && relevant.has(child)) {
        texts.add(text);
      }
    }
  }
  for (const text of texts) {
    node.statics.set(text, pendingFor(step(members, text, relevant)));
  }
  const others = step(members, null, relevant);
  node.param = others.length === 0 ? null : pendingFor(others);
}

/** Where a segment leads from each member: to its static child, then to its parameter child. */
function step<H, M>(
  members: readonly RadixNode<H, M>[],
  text: string | null,
  relevant: Relevant<H, M>,
): RadixNode<H, M>[] {
  const next: RadixNode<H, M>[] = [];
  for (const member of members) {
    const fixed = text === null ? undefined : member.staticChild(text);
    if (fixed !== undefined && relevant.has(fixed)) {
      next.push(fixed);
    }
    const param = text === "" ? undefined : member.paramChild;
    if (param !== undefined && relevant.has(param)) {
      next.push(param);
    }
  }
  return next;
}

/** The look-up that reads the prepared nodes as they are: the plain twin of the compiled one. */
export function findInNodes<H, M>(first: PreparedNode<H, M>, maxSegments: number): Find<H, M> {
  return (path) => {
    const segments = cutPath(path, maxSegments);
    if (segments === null) {
      return null;
    }
    let node: PreparedNode<H, M> | null = first;
    for (const segment of segments) {
      node = node.statics.get(segment) ?? (segment === "" ? null : node.param);
      if (node === null) {
        return null;
      }
    }
    return node.route === null ? null : resultOf(node.route, segments);
  };
}
