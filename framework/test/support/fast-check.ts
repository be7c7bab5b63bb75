/**
 * fast-check, with the seed of `FC_SEED` if that is set. A failed property prints its seed:
 * `FC_SEED=-1406312 npm test -- framework/test/path.test.ts` repeats it.
 */
import * as fc from "fast-check";
import { IS_SLOW } from "./on-demand.js";

/** @throws if `FC_SEED` is not an integer, so that a typing error does not run with another seed. */
export function readSeed(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const seed = Number(text);
  if (!Number.isInteger(seed)) throw new Error(`FC_SEED must be an integer, but is ${JSON.stringify(text)}.`);
  return seed;
}

const seed = readSeed(process.env.FC_SEED);
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

/** The number of runs of a long search: all of them with `TSGI_SLOW=1`, else a fifth. */
export const runs = (all: number): number => (IS_SLOW ? all : Math.ceil(all / 5));

/** Any code point but a half of a surrogate pair. */
const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point));

/**
 * Text of any code points, and of names such as `__proto__`. It is `string({ unit: "binary" })` without the map of all
 * 1,112,064 code points, which takes 1 s of processor time in each test file.
 */
export const unicode = (limits: Pick<fc.StringConstraints, "minLength" | "maxLength"> = {}): fc.Arbitrary<string> =>
  fc.oneof({ arbitrary: fc.string({ ...limits, unit: codePoint }), weight: 4 }, fc.string(limits));

export * from "fast-check";
