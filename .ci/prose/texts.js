/** The prose of a file: its comments and messages, or its paragraphs. */
// The compiler of the repository has no programming interface; the one of users' editors has.
import ts from "typescript-5.9";

/**
 * @typedef {object} Text
 * @property {"comment" | "message" | "title" | "paragraph" | "heading"} kind
 * @property {number} line - From 1.
 * @property {string} text
 * @property {string} [name] - The documented name, for a doc comment.
 */

/** Functions whose first argument is the title of a test. */
const TEST_FUNCTION = /^(?:it|test|slowly|describe\w*)\b/;

/** Titles are the first arguments of `it` and `describe`, also of `it.each(…)`, and of other functions that get a sentence and a test. */
function isTitleOfTest(node, file) {
  const { parent } = node;
  if (!ts.isCallExpression(parent) || parent.arguments[0] !== node) return false;
  if (TEST_FUNCTION.test(parent.expression.getText().trim())) return true;
  const test = parent.arguments[1];
  const isTest = test !== undefined && (ts.isArrowFunction(test) || ts.isFunctionExpression(test));
  return isTest && /\.test\.[jt]s$/.test(file) && / \w+ /.test(node.getText());
}

/** The comments of a program, and the texts of its literals that are sentences. */
export function textsOfProgram(file, content) {
  const script = /\.[cm]?js$/.test(file) ? ts.ScriptKind.JS : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.ESNext, true, script);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const texts = [];
  const names = new Map();
  let rest = content;
  const visit = (node) => {
    for (const { pos } of node.jsDoc ?? []) names.set(pos, node.name?.getText(source));
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isRegularExpressionLiteral(node)) {
      const [start, end] = [node.getStart(source), node.end];
      rest = `${rest.slice(0, start)}${" ".repeat(end - start)}${rest.slice(end)}`;
      const isTitle = isTitleOfTest(ts.isTemplateHead(node) ? node.parent : node, file);
      // Two words in a row are a sentence, and not a name, a path or a header.
      const isSentence = !ts.isRegularExpressionLiteral(node) && (isTitle || /[a-z]{2,} [a-z]{2,}/.test(node.text));
      if (isSentence) texts.push({ kind: isTitle ? "title" : "message", line: lineOf(start), text: node.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  // With the literals blank, what looks like a comment is one. Lines of `//` below each other are one comment.
  for (const { 0: comment, index } of rest.matchAll(/\/\*[^]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*/g)) {
    if (/^\/[/*] ?(?:oxlint|@ts-|<reference)|^\/\*\*? @vite/.test(comment)) continue;
    const text = comment
      .replaceAll(/^\/\*+!?|\*+\/$/g, "")
      .replaceAll(/^[ \t]*(?:\/\/+|\*)?[ \t]?/gm, "")
      .trim();
    texts.push({ kind: "comment", line: lineOf(index), text, name: names.get(index) });
  }
  return texts;
}

/** A page's lines; code, comments and markup are replaced by empty lines. */
function proseLines(content) {
  let fence = null;
  return content.split("\n").map((line) => {
    const mark = /^[\s>]*(`{3,}|~{3,})/.exec(line)?.[1];
    const isInside = fence !== null;
    if (mark !== undefined && !isInside) fence = mark;
    else if (mark?.startsWith(fence)) fence = null;
    return isInside || mark !== undefined || /^\s*<|^[\s|:-]+$/.test(line) ? "" : line.trim();
  });
}

/** The paragraphs, items, headings and cells of a page. */
export function textsOfPage(content) {
  const texts = [];
  let isOpen = false;
  for (const [index, line] of proseLines(content).entries()) {
    const mark = /^(?:\||(?:[-*+>]|\d+\.|#+)\s+)/.exec(line)?.[0] ?? "";
    const parts = mark === "|" ? line.split(/(?<!\\)\|/) : [line.slice(mark.length)];
    if (isOpen && mark === "" && line !== "") texts.at(-1).text += ` ${line}`;
    else
      texts.push(
        ...parts.map((text) => ({ kind: mark.startsWith("#") ? "heading" : "paragraph", line: index + 1, text })),
      );
    isOpen = line !== "" && !/^[|#]/.test(line);
  }
  return texts.filter(({ text }) => text !== "");
}
