/** `tsgi explain`: what a code means, as the page of errors has it. @module */
import path from "node:path";
import type { Command } from "commander";
import { nearest } from "../wording.js";
import { EXIT } from "./errors.js";
import { ERRORS_PAGE, type Explanation, explanations } from "./errors-page.js";

const PREFIX = "TSGI_";

/** Prints what the page says of a code, or a list of all codes. Ends the command for one that there is not. */
export function explain(code: string | undefined, command: Command): void {
  const known = explanations();
  if (code === undefined) return print(listByTopic([...known.values()]));
  const name = nameOf(code);
  const found = known.get(name) ?? known.get(PREFIX + name);
  if (found) return print(show(found));
  const similar = similarTo(name, [...known.values()]);
  const way = similar.length === 0 ? "`tsgi explain` lists all." : `Did you mean one of these?\n${list(similar)}`;
  command.error(`error: there is no code ${JSON.stringify(code)}. ${way}`, { exitCode: EXIT.usage });
}

/** A code as it is written by hand: in lower case, with hyphens. */
function nameOf(code: string): string {
  return code
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, "_");
}

function wordsOf(code: string): string[] {
  return withoutPrefix(code).split("_");
}

function withoutPrefix(code: string): string {
  return code.startsWith(PREFIX) ? code.slice(PREFIX.length) : code;
}

/** The code that differs by a letter or two; else those that share the most words with what was written. */
function similarTo(name: string, known: readonly Explanation[]): readonly Explanation[] {
  const codes = known.map(({ code }) => withoutPrefix(code));
  const meant = nearest(withoutPrefix(name), codes);
  if (meant !== null) return [known[codes.indexOf(meant)] as Explanation];
  const words = wordsOf(name);
  const shared = known.map(({ code }) => wordsOf(code).filter((word) => words.includes(word)).length);
  const most = Math.max(1, ...shared);
  return known.filter((_, index) => shared[index] === most);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line for each code, those of a topic below its title. */
function listByTopic(shown: readonly Explanation[]): string {
  const topics = [...new Set(shown.map(({ topic }) => topic))];
  return topics.map((topic) => `${topic}\n${list(shown.filter((one) => one.topic === topic))}`).join("\n\n");
}

function list(shown: readonly Explanation[]): string {
  const width = Math.max(...shown.map(({ code }) => code.length));
  return shown.map(({ code, summary }) => `  ${code.padEnd(width)}  ${summary}`).join("\n");
}

function show({ code, topic, text }: Explanation): string {
  return `${code} (${topic})\n\n${toPlainText(text)}\n\nThe page: ${path.relative(process.cwd(), ERRORS_PAGE)}`;
}

/** Markdown as a terminal shows it: rows without their ticks, code behind a margin, links with where they lead. */
function toPlainText(markdown: string): string {
  return markdown
    .replaceAll(/^```\w*\n([^]*?)\n```$/gm, (_, code: string) => code.replaceAll(/^(?=.)/gm, "    "))
    .replaceAll(/^- (`+) ?(.*?) ?\1(?:<br>(.*))?$/gm, (_, _ticks, message: string, remark?: string) =>
      remark === undefined ? `  ${message}` : `  ${message}\n      ${remark}`,
    )
    .replaceAll(/\[([^\]]*)\]\(([^)#]*)[^)]*\)/g, "$1 ($2)");
}
