/**
 * Bit-parallel simulation, for route sets that cannot be made deterministic within the bound: one bit for each route of a
 * length, in order of precedence, and one AND with a mask for each segment (the Shift-And method of Baeza-Yates and
 * Gonnet, 1992, with segments for characters). @module
 */
import { cutPath, type Find, resultOf, type Route } from "./radix-node.js";

/** The masks of one position: bit `n` is set where route `n` matches the segment. */
interface Position {
  /** The index of the segment. */
  readonly index: number;
  readonly byText: ReadonlyMap<string, Int32Array>;
  /** For any other non-empty segment: the routes with a parameter there. */
  readonly params: Int32Array;
}

/** Simulates the routes of each length, given in order of precedence. */
export function runBitParallel<H, M>(byLength: ReadonlyMap<number, readonly Route<H, M>[]>): Find<H, M> {
  const tables = new Map([...byLength].map(([length, routes]) => [length, new Simulation(routes)]));
  const maxSegments = Math.max(...byLength.keys());
  return (path) => {
    const segments = cutPath(path, maxSegments);
    const route = segments === null ? null : (tables.get(segments.length)?.find(segments) ?? null);
    return segments === null || route === null ? null : resultOf(route, segments);
  };
}

/** The routes of one number of segments. */
class Simulation<H, M> {
  readonly #routes: readonly Route<H, M>[];
  /** The positions, those first that tell most routes apart. */
  readonly #positions: readonly Position[];
  readonly #words: number;
  /** The bits that are left of one lookup. A lookup is synchronous, so one array serves them all. */
  readonly #left: Int32Array;

  constructor(routes: readonly Route<H, M>[]) {
    this.#routes = routes;
    this.#words = Math.ceil(routes.length / 32);
    this.#left = new Int32Array(this.#words);
    this.#positions = Array.from(routes[0]?.texts ?? [], (_, index) => this.#masksAt(index)).toSorted(
      (one, other) => countBits(one.params) - countBits(other.params),
    );
  }

  /**
   * The first route that matches the segments. Costs at most segments × routes/32 word operations; as soon as one route
   * is left, its own static segments are compared instead.
   */
  find(segments: readonly string[]): Route<H, M> | null {
    const left = this.#left;
    left.fill(-1);
    for (const position of this.#positions) {
      const segment = segments[position.index]!; // The table was picked by the number of segments.
      const mask = position.byText.get(segment) ?? (segment === "" ? undefined : position.params);
      if (mask === undefined) return null;
      const routesLeft = intersect(left, mask);
      if (routesLeft === "none") return null;
      if (routesLeft === "one") {
        const route = this.#first();
        return route !== null && matches(route, segments) ? route : null;
      }
    }
    return this.#first();
  }

  /** The route of the lowest bit that is left. */
  #first(): Route<H, M> | null {
    const word = this.#left.findIndex((bits) => bits !== 0);
    const bits = this.#left[word] ?? 0;
    return this.#routes[word * 32 + (31 - Math.clz32(bits & -bits))] ?? null;
  }

  #masksAt(index: number): Position {
    const params = new Int32Array(this.#words);
    const byText = new Map<string, Int32Array>();
    this.#routes.forEach((route, bit) => {
      const text = route.texts[index] ?? null;
      if (text === null) {
        setBit(params, bit);
        return;
      }
      const mask = byText.get(text) ?? new Int32Array(this.#words);
      setBit(mask, bit);
      byText.set(text, mask);
    });
    for (const [text, mask] of byText) {
      if (text !== "") params.forEach((bits, word) => (mask[word]! |= bits));
    }
    return { index, byText, params };
  }
}

/** Takes the bits out of `left` that `mask` does not have. Returns how many routes are left. */
function intersect(left: Int32Array, mask: Int32Array): "none" | "one" | "several" {
  let seen = 0;
  let single = true;
  for (let word = 0; word < left.length; word++) {
    const bits = (left[word]! &= mask[word]!);
    single &&= bits === 0 || (seen === 0 && (bits & (bits - 1)) === 0);
    seen |= bits;
  }
  if (seen === 0) return "none";
  return single ? "one" : "several";
}

/** Static segments are equal, and those of parameters not empty. */
function matches<H, M>(route: Route<H, M>, segments: readonly string[]): boolean {
  return route.texts.every((text, index) => (text === null ? segments[index] !== "" : segments[index] === text));
}

function setBit(mask: Int32Array, bit: number): void {
  mask[bit >> 5]! |= 1 << (bit & 31);
}

function countBits(mask: Int32Array): number {
  let count = 0;
  for (let bits of mask) {
    for (; bits !== 0; bits &= bits - 1) count++;
  }
  return count;
}
