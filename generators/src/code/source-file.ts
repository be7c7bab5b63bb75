import { parse, type ParseResult } from "@babel/parser";
import type { ImportDeclaration, Statement } from "@babel/types";
import { CommandError, messageOf } from "../errors.js";

/** A part of a text, by offsets; every node of the syntax tree is one. */
export interface Span {
  start?: number | null;
  end?: number | null;
}

interface Insertion {
  offset: number;
  text: string;
}

/**
 * A TypeScript module to add code to. Its syntax tree contains the places; all other text stays unchanged, with
 * comments and white space.
 */
export class SourceFile {
  /** The top-level statements, with imports. */
  readonly statements: readonly Statement[];
  readonly #text: string;
  readonly #insertions: Insertion[] = [];
  /** New import declarations, by module. */
  readonly #newImports = new Map<string, string[]>();
  /** Imports that were requested, by module and name. */
  readonly #imported = new Set<string>();

  /**
   * @param path for messages
   * @throws CommandError when the text is not TypeScript
   */
  constructor(path: string, text: string) {
    this.#text = text;
    try {
      const tree: ParseResult = parse(text, {
        sourceType: "module",
        plugins: ["typescript", "explicitResourceManagement", "decorators"],
      });
      this.statements = tree.program.body;
    } catch (error) {
      throw new CommandError(`${path} cannot be read: ${messageOf(error)}`);
    }
  }

  /** The text with all insertions. */
  toString(): string {
    let text = this.#text;
    const imports = [...this.#newImports].map(([module, names]) => this.#renderImport(module, names));
    // From the end, so that earlier offsets stay valid. Insertions at one place keep their order.
    for (const insertion of [...imports, ...this.#insertions].toSorted((a, b) => a.offset - b.offset).toReversed()) {
      text = text.slice(0, insertion.offset) + insertion.text + text.slice(insertion.offset);
    }
    return text;
  }

  /** Inserts lines after a statement, with its indentation. */
  insertAfter(statement: Span, lines: string, gap: "line" | "paragraph"): void {
    this.#insertions.push(this.#after(statement, lines, gap));
  }

  /** Writes lines at the end of the file, after an empty line. */
  append(lines: string): void {
    const end = this.#text.trimEnd().length;
    this.#insertions.push({ offset: end, text: `${end === 0 ? "" : "\n\n"}${lines}` });
  }

  /** The modules that are imported, by declaration. */
  get imports(): readonly ImportDeclaration[] {
    return this.statements.filter((statement) => statement.type === "ImportDeclaration");
  }

  /** True if a top-level declaration or an import has this name. */
  declares(name: string): boolean {
    const imported = this.imports.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name));
    const declared = this.statements.flatMap((statement) => {
      const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      if (inner?.type === "VariableDeclaration") {
        return inner.declarations.map(({ id }) => (id.type === "Identifier" ? id.name : ""));
      }
      return inner?.type === "FunctionDeclaration" || inner?.type === "ClassDeclaration" ? [inner.id?.name ?? ""] : [];
    });
    return [...imported, ...declared].includes(name);
  }

  /** The name, or the first unused one of `name2`, `name3`, … */
  freeName(name: string): string {
    for (let number = 1; ; number++) {
      const candidate = number === 1 ? name : `${name}${number}`;
      if (!this.declares(candidate)) {
        return candidate;
      }
    }
  }

  /**
   * Imports a value, if the file does not.
   *
   * @returns its name in this file
   */
  importName(module: string, name: string): string {
    const declarations = this.imports.filter(
      ({ source, importKind }) => source.value === module && importKind !== "type",
    );
    for (const specifier of declarations.flatMap(({ specifiers }) => specifiers)) {
      if (specifier.type === "ImportSpecifier" && specifier.importKind !== "type") {
        const imported = specifier.imported.type === "Identifier" ? specifier.imported.name : specifier.imported.value;
        if (imported === name) {
          return specifier.local.name;
        }
      }
    }
    const key = `${module} ${name}`;
    if (this.#imported.has(key)) {
      return name;
    }
    this.#imported.add(key);
    const named = declarations.find(({ specifiers }) => specifiers.some(({ type }) => type === "ImportSpecifier"));
    if (named) {
      this.#addSpecifier(named, name);
    } else {
      this.#newImports.set(module, [...(this.#newImports.get(module) ?? []), name]);
    }
    return name;
  }

  /** Keeps the names of an import sorted. */
  #addSpecifier({ specifiers }: ImportDeclaration, name: string): void {
    const key = name.toLowerCase();
    const next = specifiers.find((specifier) => specifier.local.name.toLowerCase() > key);
    const insertion = next
      ? { offset: next.start ?? 0, text: `${name}, ` }
      : { offset: specifiers.at(-1)?.end ?? 0, text: `, ${name}` };
    this.#insertions.push(insertion);
  }

  /** Packages come first, then files of the project. */
  #renderImport(module: string, names: readonly string[]): Insertion {
    const line = `import { ${names.toSorted().join(", ")} } from ${JSON.stringify(module)};`;
    const isRelative = (text: string) => text.startsWith(".");
    const alike = this.imports.findLast(({ source }) => isRelative(source.value) === isRelative(module));
    const last = alike ?? this.imports.at(-1);
    return last
      ? this.#after(last, line, alike ? "line" : "paragraph")
      : { offset: this.statements[0]?.start ?? 0, text: `${line}\n\n` };
  }

  #after(statement: Span, lines: string, gap: "line" | "paragraph"): Insertion {
    const indent = this.#indentOf(statement);
    const text = lines
      .split("\n")
      .map((line) => (line === "" ? "" : indent + line))
      .join("\n");
    return { offset: this.#endOfLine(statement), text: `${gap === "line" ? "\n" : "\n\n"}${text}` };
  }

  #indentOf({ start }: Span): string {
    const line = this.#text.lastIndexOf("\n", (start ?? 0) - 1) + 1;
    return /^[ \t]*/.exec(this.#text.slice(line, start ?? 0))?.[0] ?? "";
  }

  /** The end of a statement's last line, after a trailing comment. */
  #endOfLine({ end }: Span): number {
    const rest = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*\*\/[ \t]*(?=\n|$))?/.exec(this.#text.slice(end ?? 0))?.[0] ?? "";
    return (end ?? 0) + rest.trimEnd().length;
  }
}
