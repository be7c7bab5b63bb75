import { it } from "@jest/globals";

/** Checks each row of a table; a failure names its row. */
export async function forEachRow<T extends readonly [unknown, ...unknown[]]>(
  rows: readonly T[],
  check: (...values: T) => unknown,
): Promise<void>;
export async function forEachRow<T>(rows: readonly T[], check: (value: T) => unknown): Promise<void>;
export async function forEachRow(rows: readonly unknown[], check: (...values: unknown[]) => unknown): Promise<void> {
  for (const row of rows) {
    try {
      await check(...(Array.isArray(row) ? row : [row]));
    } catch (error) {
      throw new Error(`${JSON.stringify(row)}: ${String(error)}`, { cause: error });
    }
  }
}

type Cases<Values extends readonly unknown[]> = (title: string, check: (...values: Values) => unknown) => void;

/** One test for all rows of a table. */
export function cases<T extends readonly [unknown, ...unknown[]]>(rows: readonly T[]): Cases<T>;
export function cases<T>(rows: readonly T[]): Cases<[T]>;
export function cases(rows: readonly unknown[]): Cases<unknown[]> {
  // oxlint-disable-next-line jest/expect-expect, jest/valid-title -- the caller's
  return (title, check) => it(title, () => forEachRow(rows, check));
}
