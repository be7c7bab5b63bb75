/** Telling static texts apart, as generated code. @module */

/** A place in the path: a variable, or `""` for none, and a number. */
export interface Start {
  readonly base: string;
  readonly add: number;
}

/** Texts side by side above which they are spread over several functions: V8 leaves long ones unoptimised. */
export const MAX_TEXTS = 48;
/** Characters up to which they are compared one by one: 70 instead of 78 ns for a path with texts of 6, 8 and 6. */
const MAX_CHARACTERS = 8;

/** The offset of a character after a place. */
export function offset(start: Start, index: number): string {
  const sum = start.add + index;
  if (start.base === "") {
    return String(sum);
  }
  return sum === 0 ? start.base : `${start.base} + ${sum}`;
}

/** Compares the path's text at a place. */
export function hasText(start: Start, text: string): string {
  if (text.length > MAX_CHARACTERS) {
    return `path.slice(${offset(start, 0)}, ${offset(start, text.length)}) === ${JSON.stringify(text)}`;
  }
  const characters = Array.from({ length: text.length }, (_, index) => {
    return `path.charCodeAt(${offset(start, index)}) === ${text.charCodeAt(index)}`;
  });
  return characters.join(" && ") || "true";
}

/** What the code does with the texts that may stand at a place. */
export interface TextWriters {
  /** The code for the one text that is left. It compares it, and runs through where it is not there. */
  one(text: string): string;
  /** The code for some of more than `MAX_TEXTS`, which have their first `from` characters in common. */
  some(texts: readonly string[], from: number): string;
}

/** Tells texts apart at the first character in which they differ. The code runs through where none of them is there. */
export function writeTexts(start: Start, texts: readonly string[], write: TextWriters, from = 0): string {
  const [first] = texts;
  if (first === undefined) {
    return "";
  }
  if (texts.length === 1) {
    return write.one(first);
  }
  let index = from;
  while (texts.every((text) => text[index] === first[index])) {
    index++;
  }
  const groups = new Map<number, string[]>();
  for (const text of texts.filter(({ length }) => length > index)) {
    const code = text.charCodeAt(index);
    const group = groups.get(code) ?? [];
    group.push(text);
    groups.set(code, group);
  }
  const cases = [...groups].map(([code, group]) => {
    const isSpread = texts.length > MAX_TEXTS && group.length > 1;
    const body = isSpread ? write.some(group, index + 1) : writeTexts(start, group, write, index + 1);
    return `case ${code}: {\n${body}break;\n}\n`;
  });
  const ended = texts.filter(({ length }) => length === index);
  return `switch (path.charCodeAt(${offset(start, index)})) {\n${cases.join("")}}\n${ended.map((text) => write.one(text)).join("")}`;
}
