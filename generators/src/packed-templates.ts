import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, readJson, textsOf, toJson } from "./json.js";
import { runtimes as runtimeNames, templateNames, type TemplateName } from "./options.js";
import { readFiles } from "./read-files.js";
import type { Template, TemplateFile, TemplateSource } from "./template.js";
import { findVendored } from "./vendored.js";

const folderName = "templates";

/** The templates of the published package. */
export class PackedTemplates implements TemplateSource {
  readonly #folder: string;
  readonly #packageRoot: string;

  constructor(packageRoot: string) {
    this.#packageRoot = packageRoot;
    this.#folder = join(packageRoot, folderName);
  }

  read(name: TemplateName): Template {
    const folder = join(this.#folder, name);
    const { tsgi, compilerOptions, ...workspace } = readJson(join(folder, "workspace.json"));
    if (typeof tsgi !== "string" || !isRecord(compilerOptions)) {
      throw new TypeError(`${folder}/workspace.json is incomplete`);
    }
    const version = String(readJson(join(this.#packageRoot, "package.json"))["version"]);
    const generator = findVendored(this.#packageRoot, "create-tsgi", version);
    const framework = generator && findVendored(this.#packageRoot, "tsgi", tsgi.slice(1));
    return {
      files: readFiles(join(folder, "files")),
      overlay: readFiles(join(folder, "overlay")),
      runtimes: this.#readRuntimes(),
      database: existsSync(join(folder, "database")) ? readFiles(join(folder, "database")) : new Map(),
      workspace: {
        devDependencies: textsOf(workspace["devDependencies"]),
        databasePackages: textsOf(workspace["databasePackages"]),
        overrides: textsOf(workspace["overrides"]),
        compilerOptions,
      },
      framework: framework ?? { specifier: tsgi },
      ...(framework && generator ? { generator } : {}),
    };
  }

  #readRuntimes(): Template["runtimes"] {
    const folder = join(this.#folder, runtimesFolder);
    const present = runtimeNames.filter((runtime) => existsSync(join(folder, runtime)));
    return Object.fromEntries(present.map((runtime) => [runtime, readFiles(join(folder, runtime))]));
  }
}

/** The folder of the files of all runtimes, beside those of the templates. */
const runtimesFolder = "runtimes";

/**
 * Replaces the templates of the package with copies of a source.
 *
 * @param frameworkVersion the lowest version of the framework for new projects, the start of a caret range
 */
export function packTemplates(source: TemplateSource, packageRoot: string, frameworkVersion: string): void {
  rmSync(join(packageRoot, folderName), { recursive: true, force: true });
  for (const name of templateNames) {
    const folder = join(packageRoot, folderName, name);
    const { files, overlay, runtimes = {}, database = new Map<string, TemplateFile>(), workspace } = source.read(name);
    for (const [runtime, own] of Object.entries(runtimes)) {
      writeFiles(join(packageRoot, folderName, runtimesFolder, runtime), own);
    }
    writeFiles(join(folder, "files"), files);
    writeFiles(join(folder, "overlay"), overlay);
    writeFiles(join(folder, "database"), database);
    writeFileSync(join(folder, "workspace.json"), toJson({ tsgi: `^${frameworkVersion}`, ...workspace }));
  }
}

function writeFiles(folder: string, files: ReadonlyMap<string, TemplateFile>): void {
  for (const [path, { contents, isExecutable }] of files) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contents);
    if (isExecutable) {
      chmodSync(target, 0o755);
    }
  }
}
