/** `tsgi explain`: prints the section of a code on the page of errors. @module */
import path from "node:path";
import type { Command } from "commander";
import { nearest } from "tsgi/internals";
import { EXIT } from "./errors.js";
import { ERRORS_PAGE, type Explanation, explanations } from "./errors-page.js";
import type { Terminal } from "./terminal.js";

/** Prints the section of a code, or a list of all codes. Ends the command for an unknown one. */
export function explain(code: string | undefined, command: Command, terminal: Terminal): void {
  const known = [...explanations().values()];
  if (code === undefined) return terminal.printLine(listByTopic(known));
  const name = shorten(code.trim().replaceAll(/[\s-]+/g, "_"));
  const found = known.find((one) => shorten(one.code) === name);
  if (found) return terminal.printLine(show(found));
  const similar = similarTo(name, known);
  const way = similar.length === 0 ? "`tsgi explain` lists all." : `Did you mean one of these?\n${list(similar)}`;
  command.error(`error: unknown code ${JSON.stringify(code)}. ${way}`, { exitCode: EXIT.usage });
}

/** A code in upper case, without its prefix. */
function shorten(code: string): string {
  return code.toUpperCase().replace(/^TSGI_/, "");
}

/** The code that differs by a letter or two; else those that share the most words with the given one. */
function similarTo(name: string, known: readonly Explanation[]): readonly Explanation[] {
  const codes = known.map(({ code }) => shorten(code));
  const meant = nearest(name, codes);
  if (meant !== null) return known.filter((_, index) => codes[index] === meant);
  const words = name.split("_");
  const shared = codes.map((code) => code.split("_").filter((word) => words.includes(word)).length);
  const most = Math.max(1, ...shared);
  return known.filter((_, index) => shared[index] === most);
}

/** A line for each code, below the title of its topic. */
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

/** Markdown for a terminal: rows without their ticks, code behind a margin, links with their targets. */
function toPlainText(markdown: string): string {
  return markdown
    .replaceAll(/^```\w*\n([^]*?)\n```$/gm, (_, code: string) => code.replaceAll(/^(?=.)/gm, "    "))
    .replaceAll(/^- (`+) ?(.*?) ?\1(?:<br>(.*))?$/gm, (_, _ticks, message: string, remark?: string) =>
      remark === undefined ? `  ${message}` : `  ${message}\n      ${remark}`,
    )
    .replaceAll(/\[([^[\]]*)\]\(([^()#]*)(?:#[^()]*)?\)/g, "$1 ($2)");
}
