/**
 * The prepared nodes of one method: its tree made deterministic. One of them stands for all the tree's nodes that the
 * segments so far lead to, in order of precedence, so that a look-up never goes back. @module
 */
import type { MethodNode } from "./method-node.js";
import { cutPath, resultOf } from "./route.js";
import type { Find, Route } from "./route.js";

/**
 * How much work the preparation of a method may take for each segment of its patterns: a node of the tree that a
 * prepared node stands for is one unit, and so is a comparison of two of them. Ordinary route sets need one or two,
 * and one that is built to explode, 24 routes of 24 segments, is given up after 4 ms.
 */
export const PREPARED_PER_SEGMENT = 8;

/** Where the segments so far lead. */
export interface PreparedNode<H, M> {
  /** The next node by the segment's text. */
  readonly statics: Map<string, PreparedNode<H, M>>;
  /** The next node for any other non-empty segment. */
  param: PreparedNode<H, M> | null;
  /** The route of a path that ends here. */
  readonly route: Route<H, M> | null;
}

/**
 * Makes the prepared nodes.
 *
 * @param bound - The most work that this may take.
 * @returns The first of them, or `null` past the bound.
 */
export function prepareNodes<H, M>(root: MethodNode<H, M>, bound: number): PreparedNode<H, M> | null {
  const preparation = new Preparation<H, M>(bound, root.id + 1); // The root is numbered last.
  const first = preparation.nodeFor([root]);
  return preparation.finish() ? first : null;
}

class Preparation<H, M> {
  readonly #bound: number;
  #work = 0;
  /** The prepared nodes whose next ones are still to be found, with the nodes that each stands for. */
  readonly #pending: { node: PreparedNode<H, M>; members: readonly MethodNode<H, M>[] }[] = [];
  readonly #byMembers = new Map<string, PreparedNode<H, M>>();
  /** Which node covers which, by the numbers of both. */
  readonly #coverage = new Map<number, boolean>();
  readonly #idCount: number;

  constructor(bound: number, idCount: number) {
    this.#bound = bound;
    this.#idCount = idCount;
  }

  /** Finds the next nodes of all prepared nodes. Whether that stayed within the bound. */
  finish(): boolean {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#link(next.node, next.members);
      if (this.#work > this.#bound) {
        return false;
      }
    }
    return true;
  }

  /** The prepared node that stands for these nodes, which are given best first. */
  nodeFor(members: readonly MethodNode<H, M>[]): PreparedNode<H, M> {
    const key = members.map(({ id }) => id).join();
    let node = this.#byMembers.get(key);
    if (node === undefined) {
      node = { statics: new Map(), param: null, route: members.find(({ route }) => route !== null)?.route ?? null };
      this.#work += members.length;
      this.#byMembers.set(key, node);
      this.#pending.push({ node, members });
    }
    return node;
  }

  #link(node: PreparedNode<H, M>, members: readonly MethodNode<H, M>[]): void {
    for (const { statics } of members) {
      for (const text of statics.keys()) {
        if (!node.statics.has(text)) {
          node.statics.set(text, this.nodeFor(this.#step(members, text)));
        }
      }
    }
    const others = this.#step(members, null);
    node.param = others.length === 0 ? null : this.nodeFor(others);
  }

  /**
   * Where a segment leads from each member: to its static child, then to its parameter child. `null` stands for a
   * segment that none of them names. A parameter takes no empty one.
   */
  #step(members: readonly MethodNode<H, M>[], text: string | null): MethodNode<H, M>[] {
    const next: MethodNode<H, M>[] = [];
    for (const { statics, param } of members) {
      const fixed = text === null ? undefined : statics.get(text);
      if (fixed !== undefined) {
        this.#addUncovered(next, fixed);
      }
      if (param !== null && text !== "") {
        this.#addUncovered(next, param);
      }
    }
    return next;
  }

  /** Adds a node, unless an earlier one covers it: then it cannot decide anything. */
  #addUncovered(members: MethodNode<H, M>[], node: MethodNode<H, M>): void {
    for (const member of members) {
      if (this.#covers(member, node)) {
        return;
      }
    }
    members.push(node);
  }

  /** Whether each path from `node` to a route leads from `better` to a route too. Where in doubt, it says no. */
  #covers(better: MethodNode<H, M>, node: MethodNode<H, M>): boolean {
    this.#work++;
    const key = better.id * this.#idCount + node.id;
    let covers = this.#coverage.get(key);
    if (covers === undefined) {
      covers = this.#work <= this.#bound && this.#coversRoute(better, node) && this.#coversStatics(better, node);
      this.#coverage.set(key, covers);
    }
    return covers;
  }

  #coversRoute(better: MethodNode<H, M>, node: MethodNode<H, M>): boolean {
    if (node.route !== null && better.route === null) {
      return false;
    }
    return node.param === null || (better.param !== null && this.#covers(better.param, node.param));
  }

  #coversStatics(better: MethodNode<H, M>, node: MethodNode<H, M>): boolean {
    for (const [text, child] of node.statics) {
      const fixed = better.statics.get(text);
      const isCovered =
        (fixed !== undefined && this.#covers(fixed, child)) ||
        (better.param !== null && text !== "" && this.#covers(better.param, child));
      if (!isCovered) {
        return false;
      }
    }
    return true;
  }
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
