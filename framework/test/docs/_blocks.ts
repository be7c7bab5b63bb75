/** The fenced blocks of Markdown pages and of doc comments, each with its line. */

/** A fenced block. `line` is the line of its first line of code, counted from 1. */
export interface Block {
  /** The file, from the repository's root. */
  readonly page: string;
  readonly line: number;
  /** The words after the fence: `ts`, `console`, … */
  readonly language: string;
  /** The words after the language. `[src/app.ts]` names the file that the block is. */
  readonly words: readonly string[];
  readonly code: string;
  /** Code in an HTML comment before the block, which a reader does not need to see. */
  readonly before: string;
}

const FENCE = /^(\s*(?:\* )?)(`{3,})(\w*) ?(.*)$/;

/**
 * The blocks of a text. A block with the word `before` is not separate but prepended to the next one. In TypeScript,
 * blocks of doc comments are found, without the stars of the comment.
 */
export function blocksOf(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let before = "";
  for (let index = 0; index < lines.length; index++) {
    const fence = FENCE.exec(lines[index] as string);
    if (fence === null || (page.endsWith(".ts") && !(fence[1] as string).includes("*"))) continue;
    const [, indent = "", ticks = "", language = "", rest = ""] = fence;
    const start = index + 1;
    const code: string[] = [];
    while (++index < lines.length && (lines[index] as string).trim().replace(/^\* /, "") !== ticks) {
      code.push((lines[index] as string).slice(indent.length));
    }
    const words = rest.split(" ").filter((word) => word !== "");
    if (words.includes("before")) {
      before = code.join("\n");
    } else {
      blocks.push({ page, line: start + 1, language, words, code: code.join("\n"), before });
      before = "";
    }
  }
  return blocks;
}

/** The file that a block says it is, as in `[src/app.ts]`, or `null`. */
export function fileOf(block: Block): string | null {
  const word = block.words.find((one) => one.startsWith("["));
  return word === undefined ? null : word.slice(1, -1);
}

/** The expected output of the `console.log` lines of a block, from the comments after them. */
export function printsOf(block: Block): string[] {
  return [...block.code.matchAll(/^ *console\.log\(.*\); \/\/ (.+)$/gm)].map((match) => match[1] as string);
}

/** A command of a `console` block, and the lines that it shows under it. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** The steps of a `console` block: a line that begins with `$ ` is a command, and one that ends in `\` continues. */
export function stepsOf(block: Block): Step[] {
  const steps: { command: string; output: string }[] = [];
  let isCommand = false;
  for (const line of block.code.split("\n")) {
    const step = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: "" });
    else if (isCommand && step) step.command += `\n${line}`;
    else if (step) step.output += `${line}\n`;
    isCommand = (line.startsWith("$ ") || isCommand) && line.endsWith("\\");
  }
  return steps;
}
