/** The rules for the prose of this repository: each gives the places in a text that break it. */
import { readFileSync } from "node:fs";
import dictionary from "dictionary-en";
import nspell from "nspell";
import { countWords, findStilted } from "./stilted.js";

/** Technical English names its subject first. */
const OPENING = /^(?:What|Whether|Who|Whoever|Whose|Where|Wherever|How)\b(?![^.]*\?)/;

/** Correct, and written by nobody in the field: each with what is. */
const PHRASES = [
  [/\bis no (?=`|[a-z])/, "is not a"],
  [/\bare no (?=[a-z])/, "are not"],
  [/\bthat is none\b/, "that is not one"],
  [/\bthere is no option\b/i, "unknown option"],
  [/\bwhat (?:came|comes)\b/i, "received"],
  [/\bas (?:it|they) came\b/, "as received"],
  [/\bwhoever\b/i, "the client, the caller, …"],
  [/\bwhosoever\b/i, "the client, the caller, …"],
  [/\bit is said\b|\bsays so\b|\bis told(?! (?:apart|from|to|by|about)\b)/, "is logged, is reported"],
  [/\bin vain\b/, "without effect"],
  [/\bmend(?:s|ed)? (?:it|them)\b/i, "fix"],
  [/\blingered\b/, "time spent lingering"],
  [/\bwhose word\b/i, "trusted"],
  [/\bthat there is not\b/, "that does not exist"],
  [/\bso to speak\b/, "leave it out"],
  [/\bof its own accord\b/, "by itself"],
  [/\bhas to do with\b/, "concerns"],
];

/** The longest sentence of a page. */
const MOST_WORDS = 30;

/** Words that say nothing of a thing beyond its name. */
const EMPTY_WORDS = new Set(
  "a an the this that its it is are of for to in on by as and or with from class function method type interface value".split(
    " ",
  ),
);

const own = readFileSync(new URL("words.txt", import.meta.url), "utf8");
const spelling = nspell(Buffer.from(dictionary.aff), Buffer.from(dictionary.dic));
const ownWords = new Set(own.split("\n").filter((line) => line !== ""));
const known = new Map();

/** Prose alone: without code, addresses and the tags of doc comments. */
function plain(text) {
  return text
    .replaceAll(/^@(?:example|see)\b[^]*?(?=^@|$(?![^]))/gm, " ")
    .replaceAll(/```[^]*?```/g, " ")
    .replaceAll(/`+[^`]*`+/g, " X ")
    .replaceAll(/\{@\w+ [^}]*\}/g, " X ")
    .replaceAll(/\]\([^)]*\)|https?:\S+|<[^>\n]*>/g, " ")
    .replaceAll(/@param (?:\{[^}]*\} )?[\w.[\]]+|@\w+(?: \{[^}]*\})?/g, " ");
}

function stemsOf(text) {
  const words =
    text
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]+/g) ?? [];
  return words.filter((word) => !EMPTY_WORDS.has(word)).map((word) => word.replace(/(?:ies|es|s|ed|ing|y|e)$/, ""));
}

function isSpelled(word) {
  let is = known.get(word);
  if (is === undefined) {
    is = ownWords.has(word.toLowerCase()) || spelling.correct(word);
    known.set(word, is);
  }
  return is;
}

const excerpt = (text) => text.replaceAll(/\s+/g, " ").trim().slice(0, 90);

/** Headings and titles that begin with a clause instead of a noun or a verb. */
const CLAUSES = {
  heading: /^(?:What|Where|Who|Whose|How|Why|That|Beside)\b(?!.*\?)/,
  title: /^(?:that|whose|which|what|where|whoever|whatever|wherever)\b/i,
};

/** The number of words of a text, without its code. */
export const wordsOf = ({ text }) => countWords(plain(text));

/** By name, what a rule finds in a text. */
export const rules = {
  stilted: ({ text }) => findStilted(plain(text)),

  clause: ({ kind, text }) => (CLAUSES[kind]?.test(text) ? [excerpt(text)] : []),

  subject: ({ kind, text }) => (kind === "subject" && text.length > 72 ? [`${text.length} characters: ${text}`] : []),

  opening: ({ kind, text }) => (kind === "comment" && OPENING.test(text) ? [excerpt(text)] : []),

  phrase: ({ text }) =>
    PHRASES.flatMap(([pattern, better]) => {
      const match = pattern.exec(text.replaceAll(/\s+/g, " "));
      return match === null ? [] : [`"${match[0]}": ${better}`];
    }),

  repetition({ kind, text, name }) {
    // A public type of options needs a comment, and has no more to say.
    if (kind !== "comment" || name === undefined || /(?:Options|Settings)$/.test(name)) return [];
    if (/^@|\n@|\d/.test(text)) return [];
    const stems = stemsOf(text);
    const ofName = new Set(stemsOf(name));
    return stems.length > 0 && stems.every((stem) => ofName.has(stem)) ? [`${name}: ${excerpt(text)}`] : [];
  },

  length({ kind, text }) {
    if (kind !== "paragraph") return [];
    const sentences = plain(text).split(/(?<=[.!?:;])["')*]*\s+/);
    return sentences
      .map((sentence) => ({ sentence, words: sentence.match(/[\p{L}\d][\p{L}\d'’.-]*/gu)?.length ?? 0 }))
      .filter(({ words }) => words > MOST_WORDS)
      .map(({ sentence, words }) => `${words} words: ${excerpt(sentence)}`);
  },

  spelling({ kind, text }) {
    // Markup and programs are in literals too.
    if (/message|title/.test(kind) && /[<>{};=$\n]/.test(text)) return [];
    // Names of code have capitals inside, digits, underscores or dots.
    const words = plain(text).match(/(?<![\w.@#$/\\-])\p{L}[\p{L}'’]*(?![\w@#$/\\(]|[.:]\w)/gu) ?? [];
    const prose = words
      .map((word) => word.replaceAll("’", "'").replace(/'s?$/, ""))
      .filter((word) => /^\p{L}\p{Ll}+/u.test(word));
    return [...new Set(prose.filter((word) => !/\p{Ll}\p{Lu}/u.test(word) && !isSpelled(word)))];
  },
};
