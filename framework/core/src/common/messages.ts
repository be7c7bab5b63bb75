/** Words of messages: the value that was received, and the name that was probably meant. @module */

/** Characters up to which a value is shown. */
const MAX_SHOWN = 60;

/** Names the type of a value, where something else was expected: `"null"`, `"an object"`, `"a list"`, `"a Promise"`, `"a string"`. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a Promise";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The value in a message about its type. */
export function describeType(value: unknown): string {
  if (typeof value === "function") return `the function ${value.name || "(anonymous)"}`;
  return value === null ? "null" : `a value of type ${typeof value}`;
}

/** A value as it was written, if that is short and plain; otherwise its type. */
export function show(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  const text = typeof value === "string" || Array.isArray(value) ? JSON.stringify(value) : describe(value);
  return text.length > MAX_SHOWN ? describe(value) : text;
}

/** The message of a caught value, which may not be an error. */
export function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `1 item`, `2 items`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The word of a list that was probably intended: at most two letters away, or different only in case. */
export function nearest(word: string, known: readonly string[]): string | null {
  const lower = word.toLowerCase();
  const distances = known.map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }));
  const best = distances.toSorted((left, right) => left.distance - right.distance)[0];
  return best && best.distance <= 2 ? best.candidate : null;
}

/** The number of letters to add, take out or change; some number above 2 where the lengths differ by more. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return 3;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

/** The type of a value that is already a mistake, so that the compiler does not report it twice. */
// oxlint-disable-next-line typescript/no-explicit-any -- each use of `unknown` or `never` would be an error of its own
export type InvalidType = any;
