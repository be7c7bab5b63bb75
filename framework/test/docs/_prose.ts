/** The prose of a Markdown page: its sentences and the cells of its tables, without its code. */

const withoutCode = (text: string) => text.replaceAll(/^ *```[^]*?^ *```/gm, "").replaceAll(/<!--[^]*?-->/g, "");

/** The cells of all tables. */
export function cellsOf(text: string): string[] {
  return withoutCode(text)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cell) => cell !== "" && !/^:?-+:?$/.test(cell));
}

/** The sentences of paragraphs, items and cells. Code within a line is one word, and a colon ends a sentence. */
export function sentencesOf(text: string): string[] {
  const prose = withoutCode(text)
    .split("\n")
    .filter((line) => !/^[|#]/.test(line))
    .join("\n");
  const paragraphs = prose.split(/\n\s*\n|\n(?= *(?:-|\d+\.) )/);
  return [...paragraphs, ...cellsOf(text)]
    .map((paragraph) => paragraph.trim().replaceAll(/\s+/g, " "))
    .flatMap((paragraph) =>
      paragraph.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(" ", "_")).split(/(?<=[.!?:]\**) /),
    )
    .filter((sentence) => sentence !== "");
}
