/** Everything that look-ups of one method need, prepared from the tree. @module */
import { compileMasks, compileNodes } from "./compile.js";
import { findByMasks } from "./mask-table.js";
import { collectRoutes } from "./method-node.js";
import type { MethodNode } from "./method-node.js";
import { findInNodes, prepareNodes } from "./prepared-node.js";
import type { RadixNode } from "./radix-node.js";
import { NO_PARAMS } from "./route.js";
import type { Find, Resolved, Route } from "./route.js";

/** What a table is made with. */
export interface TableOptions {
  /** Whether look-ups may be generated code. */
  readonly compile: boolean;
  /** How much work the preparation may take for each segment of the routes with parameters. */
  readonly preparedPerSegment: number;
}

/** The prepared form of one method's routes. */
export class MethodTable<H, M> {
  /** Whether every way through the routes with parameters is prepared; else look-ups compare bit masks. */
  readonly isPrepared: boolean;
  /** Whether their look-up is generated code. */
  readonly isCompiled: boolean;
  readonly #fixed: ReadonlyMap<string, Route<H, M>>;
  /** Length of the longest path in `#fixed`: a longer one need not be hashed. */
  readonly #longestFixed: number;
  readonly #findOpen: Find<H, M>;

  constructor(root: RadixNode<H, M>, method: string, options: TableOptions) {
    const routes = collectRoutes(root, method);
    this.#fixed = routes.fixed;
    this.#longestFixed = [...routes.fixed.keys()].reduce((longest, path) => Math.max(longest, path.length), 0);
    const prepared = routes.root === null ? null : prepareFind(routes.root, routes.open, options);
    this.isPrepared = prepared?.isPrepared ?? true;
    this.isCompiled = prepared?.isCompiled ?? false;
    this.#findOpen = prepared?.find ?? (() => null);
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
}

/** Makes the look-up of the routes with parameters. */
function prepareFind<H, M>(
  root: MethodNode<H, M>,
  routes: readonly Route<H, M>[],
  options: TableOptions,
): { find: Find<H, M>; isPrepared: boolean; isCompiled: boolean } {
  const byLength = new Map<number, Route<H, M>[]>();
  for (const route of routes) {
    const sameLength = byLength.get(route.texts.length) ?? [];
    sameLength.push(route);
    byLength.set(route.texts.length, sameLength);
  }
  const segments = routes.reduce((sum, route) => sum + route.texts.length, 0);
  const first = prepareNodes(root, segments * options.preparedPerSegment);
  if (first === null) {
    const plain = findByMasks(byLength);
    const compiled = options.compile ? compileMasks(byLength, plain) : null;
    return { find: compiled ?? plain, isPrepared: false, isCompiled: compiled !== null };
  }
  const compiled = options.compile ? compileNodes(first) : null;
  const find = compiled ?? findInNodes(first, Math.max(...byLength.keys()));
  return { find, isPrepared: true, isCompiled: compiled !== null };
}
