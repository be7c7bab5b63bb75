/** Everything that look-ups of one method need, prepared from the tree. @module */
import { compileMasks, compileNodes } from "./compile.js";
import { findByMasks } from "./mask-table.js";
import { findInNodes, prepareNodes } from "./prepared-node.js";
import { PARAM_KEY } from "./radix-node.js";
import type { RadixNode } from "./radix-node.js";
import { NO_PARAMS } from "./route.js";
import type { Find, Resolved, Route } from "./route.js";

/** What a table is made with. */
export interface TableOptions {
  /** Whether the prepared nodes may become generated code. */
  readonly compile: boolean;
  /** How many nodes of the tree the prepared nodes may stand for, for each segment of the routes with parameters. */
  readonly preparedPerSegment: number;
}

/** The prepared form of one method's routes. */
export class MethodTable<H, M> {
  /** Whether every way through the routes with parameters is prepared; else look-ups compare bit masks. */
  readonly isPrepared: boolean;
  /** Whether their look-up is generated code. */
  readonly isCompiled: boolean;
  readonly #method: string;
  /** Routes without parameters by their whole path: static beats parameter at each segment, so nothing beats them. */
  readonly #fixed = new Map<string, Route<H, M>>();
  /** Length of the longest of those paths: a longer one need not be hashed. */
  #longestFixed = 0;
  /** Routes with parameters, best first. */
  readonly #open: Route<H, M>[] = [];
  readonly #findOpen: Find<H, M>;

  constructor(root: RadixNode<H, M>, method: string, options: TableOptions) {
    this.#method = method;
    const relevant = new Map<RadixNode<H, M>, { id: number; route: Route<H, M> | null }>();
    this.#collect(root, [], relevant);
    const segments = this.#open.reduce((sum, route) => sum + route.texts.length, 0);
    const first = prepareNodes(root, relevant, segments * options.preparedPerSegment);
    this.isPrepared = first !== null;
    const byLength = this.#openByLength();
    const plain = first === null ? findByMasks(byLength) : findInNodes(first, Math.max(0, ...byLength.keys()));
    const compiled = !options.compile ? null : first === null ? compileMasks(byLength, plain) : compileNodes(first);
    this.isCompiled = compiled !== null;
    this.#findOpen = compiled ?? plain;
  }

  /** The result for a path that starts with a slash, `null` where no route takes it as it is spelled. */
  find(path: string): Resolved<H, M> | null {
    if (path.length <= this.#longestFixed) {
      const route = this.#fixed.get(path);
      if (route !== undefined) {
        return [route.handler, NO_PARAMS, route.metadata];
      }
    }
    return this.#findOpen(path);
  }

  /** Visits the tree in order of precedence. Whether a route with parameters lies at the node or below. */
  #collect(
    node: RadixNode<H, M>,
    texts: readonly (string | null)[],
    relevant: Map<RadixNode<H, M>, { id: number; route: Route<H, M> | null }>,
  ): boolean {
    const route = this.#routeAt(node, texts);
    const isOpen = route !== null && route.names.length > 0;
    if (isOpen) {
      this.#open.push(route);
    } else if (route !== null) {
      const path = `/${texts.join("/")}`;
      this.#fixed.set(internalised(path), route);
      this.#longestFixed = Math.max(this.#longestFixed, path.length);
    }
    let leads = isOpen;
    for (const [text, child] of node.children) {
      if (text !== PARAM_KEY && this.#collect(child, [...texts, text], relevant)) {
        leads = true;
      }
    }
    if (node.paramChild !== undefined && this.#collect(node.paramChild, [...texts, null], relevant)) {
      leads = true;
    }
    if (leads) {
      relevant.set(node, { id: relevant.size, route: isOpen ? route : null });
    }
    return leads;
  }

  #openByLength(): Map<number, Route<H, M>[]> {
    const byLength = new Map<number, Route<H, M>[]>();
    for (const route of this.#open) {
      const sameLength = byLength.get(route.texts.length) ?? [];
      sameLength.push(route);
      byLength.set(route.texts.length, sameLength);
    }
    return byLength;
  }

  #routeAt(node: RadixNode<H, M>, texts: readonly (string | null)[]): Route<H, M> | null {
    const entry = node.handlers.get(this.#method);
    if (entry === undefined) {
      return null;
    }
    return {
      handler: entry[0],
      metadata: entry[1],
      texts,
      names: node.names.get(this.#method) ?? [],
      positions: texts.flatMap((text, index) => (text === null ? [index] : [])),
    };
  }
}

/**
 * The same text as the engine's one copy of it. `Map#get` then compares two pointers when it is asked with that copy,
 * and characters else: 16 instead of 27 ns for a static path that stands in a program.
 */
function internalised(text: string): string {
  return Object.keys({ [text]: null })[0] ?? text;
}
