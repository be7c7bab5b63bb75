/** The tables of a Markdown page. */

const withoutCode = (text: string) => text.replaceAll(/^ *```[^]*?^ *```/gm, "").replaceAll(/<!--[^]*?-->/g, "");

/** The cells of all tables. */
export function cellsOf(text: string): string[] {
  return withoutCode(text)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cell) => cell !== "" && !/^:?-+:?$/.test(cell));
}
