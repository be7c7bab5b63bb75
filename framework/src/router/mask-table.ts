/**
 * The look-up for route sets that cannot be made deterministic within the bound: one bit for each route of a length,
 * in order of precedence, and one mask a segment. @module
 */
import type { Route } from "./route.js";

/** The masks of one position: bit `n` is set when the route `n` takes the segment there. */
interface Position {
  readonly byText: ReadonlyMap<string, Int32Array>;
  /** For any other non-empty segment: the routes with a parameter there. */
  readonly params: Int32Array;
}

/** All routes of one number of segments. */
export class MaskTable<H, M> {
  readonly #routes: readonly Route<H, M>[];
  readonly #positions: readonly Position[];
  readonly #words: number;

  /** @param routes - Routes of one length, best first. */
  constructor(routes: readonly Route<H, M>[]) {
    this.#routes = routes;
    this.#words = Math.ceil(routes.length / 32);
    const length = routes[0]?.texts.length ?? 0;
    this.#positions = Array.from({ length }, (_, position) => this.#masksAt(position));
  }

  /** The best route that takes the segments, `null` when none does. Costs segments × routes/32 word operations. */
  find(segments: readonly string[]): Route<H, M> | null {
    const rows: Int32Array[] = [];
    for (let position = 0; position < this.#positions.length; position++) {
      // The caller picks the table by the number of segments, so there is one for each position.
      const segment = segments[position]!;
      const { byText, params } = this.#positions[position]!;
      const row = byText.get(segment) ?? (segment === "" ? undefined : params);
      if (row === undefined) {
        return null;
      }
      rows.push(row);
    }
    for (let word = 0; word < this.#words; word++) {
      let bits = -1;
      for (const row of rows) {
        bits &= row[word]!; // Every row has `#words` words.
      }
      if (bits !== 0) {
        return this.#routes[word * 32 + (31 - Math.clz32(bits & -bits))] ?? null;
      }
    }
    return null;
  }

  #masksAt(position: number): Position {
    const params = new Int32Array(this.#words);
    const byText = new Map<string, Int32Array>();
    this.#routes.forEach((route, index) => {
      const text = route.texts[position];
      if (typeof text !== "string") {
        setBit(params, index);
        return;
      }
      const mask = byText.get(text) ?? new Int32Array(this.#words);
      setBit(mask, index);
      byText.set(text, mask);
    });
    for (const [text, mask] of byText) {
      if (text !== "") {
        params.forEach((bits, word) => (mask[word]! |= bits));
      }
    }
    return { byText, params };
  }
}

function setBit(mask: Int32Array, index: number): void {
  mask[index >> 5] = mask[index >> 5]! | (1 << (index & 31));
}
