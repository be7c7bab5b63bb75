/** Everything that look-ups of one method need, prepared from the tree. @module */
import { compileMasks, compileNodes, findFixed } from "./compile.js";
import { findByMasks } from "./mask-table.js";
import { collectRoutes } from "./method-node.js";
import { findInNodes, prepareNodes } from "./prepared-node.js";
import type { RadixNode } from "./radix-node.js";
import type { Find, Route } from "./route.js";

/** What a table is made with. */
export interface TableOptions {
  /** Whether look-ups may be generated code. */
  readonly compile: boolean;
  /** How much work the preparation may take for each segment of the routes with parameters. */
  readonly preparedPerSegment: number;
}

/** The prepared form of one method's routes. */
export interface MethodTable<H, M> {
  /** The look-up of a path that starts with a slash; it gives `null` where no route takes it as it is spelled. */
  readonly find: Find<H, M>;
  /** Whether every way through the routes with parameters is prepared; else look-ups compare bit masks. */
  readonly isPrepared: boolean;
  /** Whether the look-up is generated code. */
  readonly isCompiled: boolean;
}

/** Prepares the look-up of one method's routes. */
export function prepareTable<H, M>(tree: RadixNode<H, M>, method: string, options: TableOptions): MethodTable<H, M> {
  const { fixed, open, root } = collectRoutes(tree, method);
  if (root === null) {
    return { find: findFixed(fixed, () => null), isPrepared: true, isCompiled: false };
  }
  const byLength = groupByLength(open);
  const segments = open.reduce((sum, route) => sum + route.texts.length, 0);
  const first = prepareNodes(root, segments * options.preparedPerSegment);
  if (first === null) {
    const plain = findByMasks(byLength);
    const compiled = options.compile ? compileMasks(fixed, byLength, plain) : null;
    return { find: compiled ?? findFixed(fixed, plain), isPrepared: false, isCompiled: compiled !== null };
  }
  const plain = findInNodes(first, Math.max(...byLength.keys()));
  const compiled = options.compile ? compileNodes(fixed, first) : null;
  return { find: compiled ?? findFixed(fixed, plain), isPrepared: true, isCompiled: compiled !== null };
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
