/** The answers with lists. @module */

/** One item of an answer. */
export interface Item {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly price: number;
  readonly active: boolean;
}

/** Items whose JSON is about 1 KB. */
export const SMALL = createItems(11);
/** Items whose JSON is about 16 KB. */
export const LARGE = createItems(171);

function createItems(count: number): readonly Item[] {
  return Array.from({ length: count }, (_, index) => ({
    id: 1_000 + index,
    name: `Product ${1_000 + index}`,
    email: `seller-${1_000 + index}@example.org`,
    price: index + 0.5,
    active: index % 2 === 0,
  }));
}
