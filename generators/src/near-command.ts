import { subCommandNames } from "./options.js";

const commands: readonly string[] = [...subCommandNames, "upgrade"];

/** Shortest prefix that counts as a command: `depend`. */
const minPrefix = 4;

/**
 * The command that a word with a mistake probably means: its prefix, or the command with one letter wrong, missing, added or
 * swapped with its neighbour (two from eight letters on). `null` for other words, and for a command.
 */
export function nearestCommand(word: string): string | null {
  if (commands.includes(word)) {
    return null;
  }
  const near = commands
    .map((command) => ({ command, distance: distanceOf(word, command) }))
    .filter(({ command, distance }) => distance <= (command.length < 8 ? 1 : 2))
    .toSorted((a, b) => a.distance - b.distance);
  const begun = word.length < minPrefix ? undefined : commands.find((command) => command.startsWith(word));
  return near[0]?.command ?? begun ?? null;
}

/** The number of letters to add, remove, replace or swap with a neighbour (optimal string alignment). */
function distanceOf(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= left.length; i += 1) {
    rows[i] = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const isSame = left[i - 1] === right[j - 1];
      const isSwapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      rows[i]?.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (isSame ? 0 : 1),
          isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(left.length, right.length);
}
