import { encodeUTF8 } from "../datastructures.js";

/**
 * Whether two secrets are the same, in a time that says nothing about where they differ: only how long `given` is, which
 * its sender knows. Nothing equals an empty secret: a variable that somebody forgot to set is no password.
 *
 * @param given - What came from outside.
 * @param expected - What it should be.
 */
export function compareSecrets(given: string, expected: string): boolean {
  const left = encodeUTF8(given);
  const right = encodeUTF8(expected);
  // Of another length it is compared with itself: the same work, and the lengths alone decide.
  const other = left.length === right.length ? right : left;
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index++) difference |= (left[index] as number) ^ (other[index] as number);
  return difference === 0 && right.length > 0;
}
