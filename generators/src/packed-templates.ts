import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, readJson, textsOf, toJson } from "./json.js";
import { templateNames, type TemplateName } from "./options.js";
import { readFiles } from "./read-files.js";
import type { Template, TemplateFile, TemplateSource } from "./template.js";
import { findVendored } from "./vendored.js";

const folderName = "templates";

/** The templates as they lie in the published package. */
export class PackedTemplates implements TemplateSource {
  readonly #folder: string;
  readonly #packageRoot: string;

  constructor(packageRoot: string) {
    this.#packageRoot = packageRoot;
    this.#folder = join(packageRoot, folderName);
  }

  read(name: TemplateName): Template {
    const folder = join(this.#folder, name);
    const { tsgi, devDependencies, overrides, compilerOptions } = readJson(join(folder, "workspace.json"));
    if (typeof tsgi !== "string" || !isRecord(compilerOptions)) {
      throw new TypeError(`${folder}/workspace.json is not whole`);
    }
    const version = String(readJson(join(this.#packageRoot, "package.json"))["version"]);
    const generator = findVendored(this.#packageRoot, "create-tsgi", version);
    const framework = generator && findVendored(this.#packageRoot, "tsgi", tsgi.slice(1));
    return {
      files: readFiles(join(folder, "files")),
      overlay: readFiles(join(folder, "overlay")),
      workspace: { devDependencies: textsOf(devDependencies), overrides: textsOf(overrides), compilerOptions },
      framework: framework ?? { specifier: tsgi },
      ...(framework && generator ? { generator } : {}),
    };
  }
}

/**
 * Copies the templates of a source into the package, in the place of what was there.
 *
 * @param frameworkVersion the version of the framework that a project made with this package starts from; it takes any
 * later one that npm counts as compatible
 */
export function packTemplates(source: TemplateSource, packageRoot: string, frameworkVersion: string): void {
  rmSync(join(packageRoot, folderName), { recursive: true, force: true });
  for (const name of templateNames) {
    const folder = join(packageRoot, folderName, name);
    const { files, overlay, workspace } = source.read(name);
    writeFiles(join(folder, "files"), files);
    writeFiles(join(folder, "overlay"), overlay);
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
