/** Everything that look-ups of one method need, prepared from the tree. @module */
import { MaskTable } from "./mask-table.js";
import { PREPARED_PER_SEGMENT, prepareNodes } from "./prepared-node.js";
import type { PreparedNode } from "./prepared-node.js";
import { PARAM_KEY } from "./radix-node.js";
import type { RadixNode } from "./radix-node.js";
import type { Route } from "./route.js";

/** How a method's routes with parameters are looked up. */
export type Strategy = "prepared nodes" | "bit masks";

/** The prepared form of one method's routes. */
export class MethodTable<H, M> {
  /** How the routes with parameters are looked up. */
  readonly strategy: Strategy;
  readonly #method: string;
  /** Routes without parameters by their whole path: static beats parameter at each segment, so nothing beats them. */
  readonly #fixed = new Map<string, Route<H, M>>();
  /** Routes with parameters, best first. */
  readonly #open: Route<H, M>[] = [];
  readonly #relevant = new Map<RadixNode<H, M>, { id: number; route: Route<H, M> | null }>();
  readonly #first: PreparedNode<H, M> | null;
  readonly #masks = new Map<number, MaskTable<H, M>>();

  constructor(root: RadixNode<H, M>, method: string, preparedPerSegment = PREPARED_PER_SEGMENT) {
    this.#method = method;
    this.#collect(root, []);
    const segments = this.#open.reduce((sum, route) => sum + route.texts.length, 0);
    this.#first = prepareNodes(root, this.#relevant, segments * preparedPerSegment);
    this.strategy = this.#first === null ? "bit masks" : "prepared nodes";
    if (this.#first === null) {
      this.#buildMasks();
    }
  }

  /** The best route for a path in its canonical form, given as a whole and as its segments. */
  find(path: string, segments: readonly string[]): Route<H, M> | null {
    return this.#fixed.get(path) ?? this.#findOpen(segments);
  }

  #findOpen(segments: readonly string[]): Route<H, M> | null {
    if (this.#first === null) {
      return this.#masks.get(segments.length)?.find(segments) ?? null;
    }
    let node: PreparedNode<H, M> | null = this.#first;
    for (const segment of segments) {
      node = node.statics.get(segment) ?? (segment === "" ? null : node.param);
      if (node === null) {
        return null;
      }
    }
    return node.route;
  }

  /** Visits the tree in order of precedence. Whether a route with parameters lies at the node or below. */
  #collect(node: RadixNode<H, M>, texts: readonly (string | null)[]): boolean {
    const route = this.#routeAt(node, texts);
    const isOpen = route !== null && route.names.length > 0;
    if (isOpen) {
      this.#open.push(route);
    } else if (route !== null) {
      this.#fixed.set(`/${texts.join("/")}`, route);
    }
    let leads = isOpen;
    for (const [text, child] of node.children) {
      if (text !== PARAM_KEY && this.#collect(child, [...texts, text])) {
        leads = true;
      }
    }
    if (node.paramChild !== undefined && this.#collect(node.paramChild, [...texts, null])) {
      leads = true;
    }
    if (leads) {
      this.#relevant.set(node, { id: this.#relevant.size, route: isOpen ? route : null });
    }
    return leads;
  }

  #routeAt(node: RadixNode<H, M>, texts: readonly (string | null)[]): Route<H, M> | null {
    const entry = node.handlers.get(this.#method);
    if (entry === undefined) {
      return null;
    }
    const positions = texts.flatMap((text, index) => (text === null ? [index] : []));
    return {
      handler: entry[0],
      metadata: entry[1],
      texts,
      names: node.names.get(this.#method) ?? [],
      positions,
    };
  }

  #buildMasks(): void {
    const byLength = new Map<number, Route<H, M>[]>();
    for (const route of this.#open) {
      const sameLength = byLength.get(route.texts.length) ?? [];
      sameLength.push(route);
      byLength.set(route.texts.length, sameLength);
    }
    for (const [length, routes] of byLength) {
      this.#masks.set(length, new MaskTable(routes));
    }
  }
}
