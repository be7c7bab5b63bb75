/** The blocks of the documentation as a TypeScript project, compiled in one go. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { type Block, fileOf } from "./_blocks.js";

/** The repository's root: blocks are compiled below it, so that `tsgi` is the package in it. */
export const REPOSITORY = path.resolve(import.meta.dirname, "../../..");

const COMPILER_OPTIONS = {
  target: "es2023",
  lib: ["es2023", "esnext.disposable"],
  types: ["node"],
  module: "nodenext",
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  rootDir: "src",
  outDir: "out",
};

/** The compiler's findings: a place in the documentation, and the error. */
export interface Finding {
  readonly place: string;
  readonly message: string;
}

/** A folder that has each block as a file, at the lines that it has on its page. */
export class DocsProject implements AsyncDisposable {
  readonly folder: string;
  readonly #pages = new Map<string, string>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Writes the blocks. Each has a folder, together with the earlier files of the page. */
  static async create(blocks: readonly Block[]): Promise<DocsProject> {
    const cache = path.join(REPOSITORY, ".cache");
    await mkdir(cache, { recursive: true });
    const project = new DocsProject(await mkdtemp(path.join(cache, "docs-")));
    await writeFile(path.join(project.folder, "package.json"), '{"type":"module"}');
    await writeFile(
      path.join(project.folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["src"] }),
    );
    const named = new Map<string, Map<string, string>>();
    for (const block of blocks) {
      const files = named.get(block.page) ?? new Map<string, string>();
      named.set(block.page, files.set(fileOf(block) ?? "block.ts", sourceOf(block)));
      await project.#write(block, files);
      files.delete("block.ts");
    }
    return project;
  }

  async #write(block: Block, files: ReadonlyMap<string, string>): Promise<void> {
    const name = folderOf(block);
    this.#pages.set(name, block.page);
    for (const [file, source] of files) {
      const target = path.join(this.folder, "src", name, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, source);
    }
  }

  /** Compiles all of it under `strict`, and returns each finding once, at its place on the page. */
  async compile(): Promise<Finding[]> {
    const compiler = path.join(REPOSITORY, "node_modules/typescript/bin/tsc");
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, "-p", this.folder, "--pretty", "false"], (_error, stdout) =>
        resolve(stdout),
      );
    });
    const findings = new Map<string, Finding>();
    for (const [line, name, row, message = ""] of output.matchAll(/^.*?src\/([^/]+)\/\S+\((\d+),\d+\): (.*)$/gm)) {
      const place = `${this.#pages.get(name as string)}:${row}`;
      findings.set(place + message, { place, message: place.startsWith("undefined") ? line : message });
    }
    if (findings.size === 0 && output !== "") return [{ place: "tsconfig.json", message: output }];
    return [...findings.values()];
  }

  /** The JavaScript of a block, once compiled. */
  compiled(block: Block, file = fileOf(block) ?? "block.ts"): string {
    return path.join(this.folder, "out", folderOf(block), file.replace(/ts$/, "js"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

function folderOf({ page, line }: Block): string {
  return `${page.replaceAll(/[^\w-]/g, "_")}_${line}`;
}

/** As many lines as there are before the block on its page: the compiler's line is then the page's. */
function sourceOf({ line, before, code }: Block): string {
  const hidden = before === "" ? [] : before.split("\n");
  const padding = "\n".repeat(Math.max(0, line - 1 - hidden.length));
  return `${padding}${hidden.map((text) => `${text}\n`).join("")}${code}\nexport {};\n`;
}
