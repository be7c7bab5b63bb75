/**
 * Writes `docs/errors.md` from the catalog of errors: each code with its messages and the comment above it. The page's
 * introduction stays.
 *
 *     node framework/scripts/errors-page.js            # writes the page
 *     node framework/scripts/errors-page.js --check    # ends with 1 where the page is another
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
// The compiler of the repository has no programming interface; the one of users' editors has.
import ts from "typescript-5.9";

const FRAMEWORK = path.dirname(import.meta.dirname);
const PAGE = path.join(FRAMEWORK, "docs/errors.md");

/** The files of the catalogue, in the order of the page. */
const FILES = [
  "core/src/common/error-codes/routes.ts",
  "core/src/common/error-codes/parameters.ts",
  "core/src/common/error-codes/schemas.ts",
  "core/src/common/error-codes/dependencies.ts",
  "core/src/common/error-codes/pools.ts",
  "core/src/common/error-codes/middleware.ts",
  "core/src/common/error-codes/security.ts",
  "core/src/common/error-codes/openapi.ts",
  "core/src/common/error-codes/files.ts",
  "core/src/platforms/node/from-node-handler/errors.ts",
  "passwords/src/errors.ts",
  "oauth/src/errors.ts",
  "api-keys/src/errors.ts",
  "login/src/errors.ts",
  "prisma/src/errors.ts",
  "transactions/src/errors.ts",
  "redis/src/errors.ts",
  "lambda/src/errors.ts",
  "broadcast/src/errors.ts",
  "jobs/src/errors.ts",
  "webhooks/src/errors.ts",
  "mcp/src/errors.ts",
  "otel/src/errors.ts",
  "metrics/src/errors.ts",
  "uwebsockets/src/errors.ts",
  "core/src/common/error-codes/servers.ts",
  "cli/src/messages.ts",
];

/** A topic: the title and introduction of its file, and its entries in the order of the alphabet. */
function readTopic(name) {
  const file = path.join(FRAMEWORK, name);
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ESNext, true);
  const [title, ...intro] = commentAt(source, 0)
    .replace(/\s*@module$/, "")
    .split("\n");
  const catalogue = source.statements.find(ts.isVariableStatement).declarationList.declarations[0].initializer;
  const codes = new Map();
  for (const property of catalogue.properties) {
    const key = ts.isStringLiteral(property.name) ? property.name.text : property.name.getText();
    const [code] = key.split(".");
    const entry = codes.get(code) ?? { code, text: "", rows: [] };
    codes.set(code, entry);
    const [text = "", remark] = commentAt(source, property.getFullStart()).split(/\n*@remarks /);
    entry.text ||= text;
    for (const message of textsOf(bodyOf(property.initializer))) entry.rows.push(rowOf(message, remark));
  }
  const entries = [...codes.values()].toSorted((left, right) => (left.code < right.code ? -1 : 1));
  return { title: title.replace(/\.$/, ""), intro: intro.join("\n").trim(), entries };
}

/** The text of the doc comment before a position. */
function commentAt(source, position) {
  const range = ts.getLeadingCommentRanges(source.text, position)?.at(-1);
  if (range === undefined) return "";
  return source.text
    .slice(range.pos + "/**".length, range.end - "*/".length)
    .split("\n")
    .map((line) => line.replace(/^ *\* ?/, "").trimEnd())
    .join("\n")
    .trim();
}

function bodyOf(node) {
  return ts.isArrowFunction(node) ? node.body : node;
}

/** Every text that an expression can give, with `…` for what varies. */
function textsOf(node) {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isBinaryExpression(node)) {
    return textsOf(node.left).flatMap((left) => textsOf(node.right).map((right) => left + right));
  }
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join("")];
  }
  return ["…"];
}

/** A row of the page; `null` for a message that another function creates. */
function rowOf(message, remark) {
  const text = message.replaceAll(/…+/g, "…").replaceAll("\n", " ");
  if (!/\w/.test(text)) return "";
  const fence = text.includes("`") ? "``" : "`";
  const pad = /^`|`$/.test(text) ? " " : "";
  return `- ${fence}${pad}${text}${pad}${fence}${remark === undefined ? "" : `<br>${remark}`}\n`;
}

function writeTopic({ title, intro, entries }) {
  const parts = entries.map(({ code, text, rows }) => {
    const [summary, ...rest] = text.split("\n\n");
    const messages = [...new Set(rows)].join("").trimEnd();
    return [`### ${code}`, summary, messages, ...rest].filter((part) => part !== "").join("\n\n");
  });
  return [`## ${title}`, ...(intro === "" ? [] : [intro]), ...parts].join("\n\n");
}

const now = readFileSync(PAGE, "utf8");
const introduction = now.slice(0, now.indexOf("\n## ")).trimEnd();
const written = `${[introduction, ...FILES.map((name) => writeTopic(readTopic(name)))].join("\n\n")}\n`;
if (!process.argv.includes("--check")) writeFileSync(PAGE, written);
else if (now !== written) {
  process.stderr.write("docs/errors.md differs from the catalogue. Write it: node framework/scripts/errors-page.js\n");
  process.exitCode = 1;
}
