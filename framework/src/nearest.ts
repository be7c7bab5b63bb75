/** What was probably meant by a word that is not known. @module */

/** The word of a list that was probably meant: at most two letters away, or other than it in the case of letters alone. */
export function nearest(word: string, known: readonly string[]): string | null {
  const lower = word.toLowerCase();
  const distances = known.map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }));
  const best = distances.toSorted((left, right) => left.distance - right.distance)[0];
  return best && best.distance <= 2 ? best.candidate : null;
}

/** How many letters are to be added, taken out or changed; some number above 2 where the lengths differ by more. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return 3;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[right.length] as number;
}
