/**
 * Look-ups as generated code, and the only place of the router that makes functions out of text.
 *
 * Why there is code at all: a look-up of three parameters by `rou3`'s compiled router takes 94 ns. Storing three values
 * under names that are known at run time only takes 43 to 50 ns of that, and no loop over nodes fits into the rest; the
 * functions made here take about 80 ns for all (Node 20, `framework/bench/routing.mjs`).
 *
 * The router's option `compile: false` switches it off. There, and where a runtime forbids code from text, the plain
 * twins of these functions serve, `findInNodes` and `findByMasks`, with the same results. @module
 */
import { decodeSegment } from "../path.js";
import type { PreparedNode } from "./prepared-node.js";
import { BARE } from "./route.js";
import type { Find, Resolved, Route } from "./route.js";
import type { Source } from "./source.js";
import { writeMasks } from "./write-masks.js";
import { writeNodes } from "./write-nodes.js";

/** The results of the routes without parameters by their whole path, where every look-up begins. */
export type FixedResults<H, M> = ReadonlyMap<string, Resolved<H, M>>;

/** The compiled twin of `findInNodes` behind `findFixed`; `null` where there is none. */
export function compileNodes<H, M>(fixed: FixedResults<H, M>, first: PreparedNode<H, M>): Find<H, M> | null {
  return compile(writeNodes(first), fixed, () => null);
}

/**
 * The compiled twin of `findByMasks` behind `findFixed`; `null` where there is none.
 *
 * @param masks - What it calls with a path that its most telling segment does not settle.
 */
export function compileMasks<H, M>(
  fixed: FixedResults<H, M>,
  byLength: ReadonlyMap<number, readonly Route<H, M>[]>,
  masks: Find<H, M>,
): Find<H, M> | null {
  return compile(writeMasks(byLength), fixed, masks);
}

function compile<H, M>(source: Source<H, M> | null, fixed: FixedResults<H, M>, masks: Find<H, M>): Find<H, M> | null {
  if (source === null) {
    return null;
  }
  const variables = {
    routes: source.routes,
    fixed,
    longestFixed: longestOf(fixed),
    bare: BARE,
    plain: Object.prototype,
    decode: decodeSegment,
    masks,
    nothing: () => null,
  };
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- the one home of generated code, see above.
    const make = new Function(...Object.keys(variables), source.toString()) as (...values: unknown[]) => Find<H, M>;
    return make(...Object.values(variables));
  } catch (error) {
    if (error instanceof EvalError) {
      return null; // HTML's and ECMA-262's HostEnsureCanCompileStrings: the runtime forbids code from text.
    }
    throw error;
  }
}

/** The plain twin of the generated function's first step; goes on with `findOpen`. */
export function findFixed<H, M>(fixed: FixedResults<H, M>, findOpen: Find<H, M>): Find<H, M> {
  const longestFixed = longestOf(fixed);
  return (path) => (path.length <= longestFixed ? fixed.get(path) : undefined) ?? findOpen(path);
}

/** Length of the longest path: a longer one need not be hashed. */
function longestOf<H, M>(fixed: FixedResults<H, M>): number {
  return [...fixed.keys()].reduce((longest, path) => Math.max(longest, path.length), 0);
}
