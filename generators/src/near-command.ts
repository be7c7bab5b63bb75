import { subCommandNames } from "./options.js";

const commands: readonly string[] = [...subCommandNames, "upgrade"];

/** Letters from which on the beginning of a command counts as that command: `depend`. */
const minPrefix = 4;

/**
 * The command that somebody probably meant who typed another word: the beginning of it, or the command with one letter
 * wrong, missing, added or swapped with its neighbour, two from eight letters on. `null` for any other word, and for a
 * command itself.
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

/** Letters that are added, taken out, changed or swapped with their neighbour (optimal string alignment). */
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
