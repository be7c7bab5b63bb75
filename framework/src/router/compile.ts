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
import { decodeSegment } from "./path.js";
import type { PreparedNode } from "./prepared-node.js";
import { PathParamsObject } from "./route.js";
import type { Find, Route } from "./route.js";
import type { Source } from "./source.js";
import { writeMasks } from "./write-masks.js";
import { writeNodes } from "./write-nodes.js";

/** The compiled twin of `findInNodes`; `null` where there is none. */
export function compileNodes<H, M>(first: PreparedNode<H, M>): Find<H, M> | null {
  return compile(writeNodes(first), () => null);
}

/** The compiled twin of `findByMasks`, which it calls with paths that it does not settle; `null` where there is none. */
export function compileMasks<H, M>(
  byLength: ReadonlyMap<number, readonly Route<H, M>[]>,
  masks: Find<H, M>,
): Find<H, M> | null {
  return compile(writeMasks(byLength), masks);
}

function compile<H, M>(source: Source<H, M> | null, masks: Find<H, M>): Find<H, M> | null {
  if (source === null) {
    return null;
  }
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- the one home of generated code, see above.
    const make = new Function("routes", "bare", "decode", "masks", "nothing", source.toString()) as (
      routes: readonly Route<H, M>[],
      bare: object,
      decode: (segment: string) => string,
      masks: Find<H, M>,
      nothing: Find<H, M>,
    ) => Find<H, M>;
    return make(source.routes, PathParamsObject.prototype as object, decodeSegment, masks, () => null);
  } catch (error) {
    if (error instanceof EvalError) {
      return null; // HTML's and ECMA-262's HostEnsureCanCompileStrings: the runtime forbids code from text.
    }
    throw error;
  }
}
