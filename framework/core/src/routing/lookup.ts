/**
 * The look-up of one method: the tree is made deterministic and emitted as code, or simulated where that would explode.
 *
 * Why there is code at all: a look-up of three parameters by `rou3`'s compiled router takes 94 ns. Storing three values
 * under names that are known at run time only takes 43 to 50 ns of that, and no loop over states fits into the rest; the
 * functions made here take about 80 ns for all (Node 20, `framework/bench/routing.mjs`).
 *
 * The router's option `compile: false` switches it off. There, and where a runtime forbids code from text, `runDfa`
 * serves, with the same results. @module
 */
import { compileCode } from "../common/generated-code.js";
import { decodeSegment } from "../protocol/path.js";
import { runBitParallel } from "./bit-parallel.js";
import type { CodeBuilder } from "./code-builder.js";
import { determinize, runDfa } from "./dfa.js";
import { emitDfa } from "./emit-dfa.js";
import { readRoutes } from "./nfa.js";
import type { RadixNode } from "./radix-node.js";
import { type Find, NULL_PROTO, type Resolved, type Route } from "./route.js";

/** Options of a look-up. */
export interface LookupOptions {
  /** Allows generated code. */
  readonly compile: boolean;
  /** Work that the construction of the automaton may take for each segment of the routes with parameters. */
  readonly workPerSegment: number;
}

/** The look-up of one method's routes. */
export interface Lookup<H, M> {
  /** Results of the routes without parameters by their whole path, where every look-up begins. */
  readonly fixed: ReadonlyMap<string, Resolved<H, M>>;
  /** Length of the longest of these paths: a longer one need not be hashed. */
  readonly longestFixed: number;
  /** Finds the route of any other path; `null` where no route matches it as it is spelled. */
  readonly find: Find<H, M>;
  /** `false`: past the bound, the routes are simulated. */
  readonly isDeterministic: boolean;
}

/** Prepares the look-up of one method. */
export function createLookup<H, M>(tree: RadixNode<H, M>, method: string, options: LookupOptions): Lookup<H, M> {
  const { fixed, open, start } = readRoutes(tree, method);
  const longestFixed = [...fixed.keys()].reduce((longest, path) => Math.max(longest, path.length), 0);
  if (start === null) return { fixed, longestFixed, find: findNothing, isDeterministic: true };
  const byLength = groupByLength(open);
  const segments = open.reduce((sum, route) => sum + route.texts.length, 0);
  const dfa = determinize(start, segments * options.workPerSegment);
  if (dfa === null) return { fixed, longestFixed, find: runBitParallel(byLength), isDeterministic: false };
  const code = options.compile ? emitDfa(dfa) : null;
  const find = (code && toFunction(code)) ?? runDfa(dfa, Math.max(...byLength.keys()));
  return { fixed, longestFixed, find, isDeterministic: true };
}

const findNothing = () => null;

function toFunction<H, M>(code: CodeBuilder<H, M>): Find<H, M> | null {
  return compileCode(code.toString(), { routes: code.routes, nullProto: NULL_PROTO, decode: decodeSegment });
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
