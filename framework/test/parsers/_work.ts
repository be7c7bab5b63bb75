/** Counts the work of a parser for texts that are made to cost much. @module */
import { WorkRecorder } from "../support/pattern-steps.js";
import type { Parser } from "./_functions.js";

/** 16 KB, the limit of all header lines. */
const SIZE = 16_384;

/** The characters that grammars treat in their own way, and one of each class. */
const CHARACTERS = Array.from(" \t,;=\"\\/:.-%+a0['\r\n");

const isSlow = process.env["TSGI_SLOW"] !== undefined;
const BYTES = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));

/** A pattern goes back a few times from each character, and several parsers read a text. */
const STEPS_PER_CHARACTER = 45;

const framed = ({ frames = [["", ""]] }: Parser, text: string) => frames.map(([begin, end]) => begin + text + end);

/** For 256 characters, a parser that takes the square of their number takes five times the limit. */
function* pairs(size: number, firsts: readonly string[]): Iterable<string> {
  for (const first of firsts) {
    for (const second of CHARACTERS) {
      yield (first + second).repeat(size / 2);
      if (first !== second) yield first + second.repeat(size) + first;
    }
  }
}

async function run({ parse }: Parser, text: string): Promise<void> {
  try {
    await parse(text);
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error; // a mistake of the table
  }
}

/** The texts for which a parser takes more steps than their length allows. */
export async function tooExpensive(parser: Parser, texts: Iterable<string>): Promise<string[]> {
  const found: string[] = [];
  await run(parser, "");
  using recorder = new WorkRecorder();
  await run(parser, "");
  const { steps: idle } = recorder.take(Infinity);
  for (const text of texts) {
    await run(parser, text);
    const most = 2 * idle + (parser.constant ?? 0) + STEPS_PER_CHARACTER * (text.length + 100);
    const { steps } = recorder.take(most + 1);
    if (steps > most) found.push(`${JSON.stringify(text.slice(0, 40))}: ${steps} of ${most}`);
  }
  return found;
}

/** Texts of one character. */
export const oneCharacter = (parser: Parser): string[] =>
  (isSlow ? BYTES : CHARACTERS).flatMap((char) => framed(parser, char.repeat(SIZE)));

/** Texts of two characters, of which the first is one of `firsts`, or any if tests may be slow. */
export const twoCharacters = (parser: Parser, firsts = CHARACTERS): string[] =>
  Array.from(pairs(isSlow ? SIZE / 4 : 256, isSlow ? CHARACTERS : firsts), (text) => framed(parser, text)).flat();
