/**
 * Writes `api/`: the declarations of each entry point of each package, from the built files, without comments and in
 * alphabetical order, so that a change of the public API is a change of these files. Each report is named after its entry
 * point: `tsgi-node.api.md` for `tsgi/node`, `client.api.md` for `@tsgi/client`.
 *
 *     node framework/scripts/api-report.js            # writes the reports
 *     node framework/scripts/api-report.js --check    # lists the lines that differ, and ends with 1 if any do
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
// The compiler of the repository has no programming interface; the one of users' editors has.
import ts from "typescript-5.9";
import { entryPoints, FRAMEWORK } from "./packages.js";

const REPORTS = path.join(FRAMEWORK, "api");
const ENTRIES = entryPoints();

/** For the official packages: their functions need a comment, but no example. */
const INTERNALS = new Set(["tsgi/internals", "@tsgi/transactions/internals", "@tsgi/transactions/testing/internals"]);

const program = ts.createProgram({
  rootNames: ENTRIES.map(({ file }) => file),
  options: {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true,
  },
});
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });

/** The symbol itself, without the names under which it is imported and exported. */
function originOf(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The declarations of a symbol in the files of one package. */
function ownDeclarations(symbol, folder) {
  const dist = path.join(folder, "dist") + path.sep;
  const isOwn = (node) => path.resolve(node.getSourceFile().fileName).startsWith(dist);
  return (symbol.declarations ?? []).filter((node) => isOwn(node) && !ts.isSourceFile(node));
}

function isPrivate(member) {
  const isHidden =
    ts.canHaveModifiers(member) && member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  const isInternal =
    ts.isClassElement(member) && ts.getJSDocTags(member).some((tag) => tag.tagName.text === "internal");
  return isHidden || isInternal || (member.name !== undefined && ts.isPrivateIdentifier(member.name));
}

/** A class without its private and internal members, which do not belong to its surface. */
function withoutPrivate(node) {
  if (!ts.isClassDeclaration(node)) return node;
  const members = node.members.filter((member) => !isPrivate(member));
  return ts.factory.updateClassDeclaration(
    node,
    node.modifiers,
    node.name,
    node.typeParameters,
    node.heritageClauses,
    members,
  );
}

/** A declaration as text. A variable is printed by its statement, which has the keyword. */
function print(node) {
  const whole = ts.isVariableDeclaration(node) ? node.parent.parent : withoutPrivate(node);
  const text = printer.printNode(ts.EmitHint.Unspecified, whole, node.getSourceFile());
  return text.replace(/^export (?:declare )?/, "").replace(/^declare /, "");
}

/** The package's own symbols that a declaration names. */
function referencesOf(node, folder) {
  const found = [];
  const visit = (child) => {
    if (isPrivate(child)) return;
    const name = ts.isImportTypeNode(child) ? child.qualifier : child;
    const symbol = name !== undefined && ts.isIdentifier(name) ? checker.getSymbolAtLocation(name) : undefined;
    if (symbol !== undefined) found.push(originOf(symbol));
    ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return found.filter((symbol) => ownDeclarations(symbol, folder).some(({ parent }) => isTopLevel(parent)));
}

function isTopLevel(parent) {
  return ts.isSourceFile(parent) || ts.isVariableDeclarationList(parent);
}

/** The types that declarations of symbols refer to and no entry point exports. */
function reachableFrom(symbols, folder) {
  const reached = new Set(symbols);
  for (const symbol of reached) {
    const references = ownDeclarations(symbol, folder).flatMap((node) => referencesOf(node, folder));
    for (const other of references) if (!exported.has(other)) reached.add(other);
  }
  return [...reached].filter((symbol) => !exported.has(symbol));
}

function writeSymbol(name, symbol, folder) {
  const nodes = ownDeclarations(symbol, folder);
  if (nodes.length === 0) return `// ${name}: of another package`;
  const renamed = name === symbol.name ? [] : [`// exported as ${name}`];
  return [...renamed, ...nodes.map(print)].join("\n");
}

function writeSection(title, symbols, write) {
  const texts = symbols.toSorted(([left], [right]) => (left < right ? -1 : 1)).map(write);
  return texts.length === 0 ? "" : `\n## ${title}\n\n\`\`\`ts\n${texts.join("\n\n")}\n\`\`\`\n`;
}

/** Functions and classes, and what is made of one, have an example; errors have one on the page of errors. */
function needsExample(symbol, folder) {
  const isError = ownDeclarations(symbol, folder).some(
    (node) => ts.isClassDeclaration(node) && /Error|Exception|Disconnect/.test(symbol.name),
  );
  const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
  const isCallable =
    symbol.flags & ts.SymbolFlags.Value && checker.getTypeOfSymbol(symbol).getCallSignatures().length > 0;
  return (isClass || isCallable) && !isError;
}

/** The parts of the doc comment that an exported name lacks. */
function missingFor({ name, folder }, symbol, isType) {
  if (ownDeclarations(symbol, folder).length === 0) return [];
  const tags = symbol.getJsDocTags(checker).map(({ name: tag }) => tag);
  return [
    ...(symbol.getDocumentationComment(checker).length > 0 ? [] : ["doc comment"]),
    ...(!INTERNALS.has(name) &&
    !isType &&
    needsExample(symbol, folder) &&
    !tags.includes("example") &&
    !tags.includes("deprecated")
      ? ["example"]
      : []),
  ];
}

function exportsOf({ file }) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  return checker
    .getExportsOfModule(module)
    .map((symbol) => [symbol.name, originOf(symbol), symbol.declarations.some(ts.isTypeOnlyExportDeclaration)]);
}

const exported = new Set(ENTRIES.flatMap((entry) => exportsOf(entry).map(([, symbol]) => symbol)));

function writeReport(entry) {
  const own = exportsOf(entry);
  const reached = reachableFrom(new Set(own.map(([, symbol]) => symbol)), entry.folder);
  const named = reached.map((symbol) => [symbol.name, symbol]);
  const write = ([name, symbol]) => writeSymbol(name, symbol, entry.folder);
  return (
    `# ${entry.name}\n\nWritten by \`npm run api --prefix framework\`.\n` +
    writeSection("Exported", own, write) +
    writeSection("Used by the exported names", named, write)
  );
}

/** The lines that only one of two texts has. */
function differingLines(committed, current) {
  const lines = [committed.split("\n"), current.split("\n")];
  const [before, now] = lines.map((all) => new Set(all));
  return [
    ...lines[0].filter((line) => !now.has(line)).map((line) => `- ${line}\n`),
    ...lines[1].filter((line) => !before.has(line)).map((line) => `+ ${line}\n`),
  ].join("");
}

const reports = new Map(
  ENTRIES.map((entry) => [`${entry.name.replace(/^@tsgi\//, "").replaceAll("/", "-")}.api.md`, writeReport(entry)]),
);
const files = existsSync(REPORTS) ? readdirSync(REPORTS) : [];
for (const entry of ENTRIES) {
  for (const [name, symbol, isType] of exportsOf(entry)) {
    for (const part of missingFor(entry, symbol, isType)) {
      process.stderr.write(`${entry.name} exports ${name} without ${part === "example" ? "an" : "a"} ${part}.\n`);
      process.exitCode = 1;
    }
  }
}
if (process.argv.includes("--check")) {
  for (const file of new Set([...files, ...reports.keys()])) {
    const committed = files.includes(file) ? readFileSync(path.join(REPORTS, file), "utf8") : "";
    const current = reports.get(file) ?? "";
    if (committed === current) continue;
    process.stderr.write(`framework/api/${file} differs. Write it: npm run api --prefix framework\n`);
    process.stderr.write(differingLines(committed, current) || "The order of its lines differs.\n");
    process.exitCode = 1;
  }
} else {
  mkdirSync(REPORTS, { recursive: true });
  for (const file of files) if (!reports.has(file)) rmSync(path.join(REPORTS, file));
  for (const [file, text] of reports) writeFileSync(path.join(REPORTS, file), text);
}
