import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, readJson, textsOf, toJson, type JsonObject } from "./json.js";
import { deploys as deployNames, runtimes as runtimeNames, templateNames, type TemplateName } from "./options.js";
import { readFiles } from "./read-files.js";
import type { FrameworkPackage, Template, TemplateFile, TemplateSource } from "./template.js";
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
    const { packages, compilerOptions, ...workspace } = readJson(join(folder, "workspace.json"));
    if (!isRecord(packages) || !isRecord(compilerOptions)) {
      throw new TypeError(`${folder}/workspace.json is incomplete`);
    }
    const version = String(readJson(join(this.#packageRoot, "package.json"))["version"]);
    const generator = findVendored(this.#packageRoot, "create-tsgi", version);
    return {
      files: readFiles(join(folder, "files")),
      overlay: readFiles(join(folder, "overlay")),
      runtimes: this.#readFolders(runtimesFolder, runtimeNames),
      deploys: this.#readFolders(deploysFolder, deployNames),
      jobs: readIfPresent(join(folder, "jobs")),
      database: readIfPresent(join(folder, "database")),
      workspace: {
        devDependencies: textsOf(workspace["devDependencies"]),
        optionalPackages: textsOf(workspace["optionalPackages"]),
        overrides: textsOf(workspace["overrides"]),
        compilerOptions,
      },
      packages: this.#findPackages(packages, generator !== null),
      ...(generator ? { generator } : {}),
    };
  }

  /** The framework's packages: from the registry, or from `vendor` next to this package. */
  #findPackages(packages: JsonObject, areVendored: boolean): Template["packages"] {
    const found = Object.entries(packages).flatMap(([name, entry]) => {
      const { version, dependencies } = readPackage(name, entry);
      const source = areVendored ? findVendored(this.#packageRoot, name, version) : { specifier: `^${version}` };
      return source ? [[name, { ...source, version, dependencies }] as const] : [];
    });
    return new Map(found);
  }

  #readFolders<Name extends string>(parent: string, names: readonly Name[]) {
    const files: Partial<Record<Name, ReadonlyMap<string, TemplateFile>>> = {};
    for (const name of names) {
      const folder = join(this.#folder, parent, name);
      if (existsSync(folder)) {
        files[name] = readFiles(folder);
      }
    }
    return files;
  }
}

/** The files of a folder. npm does not pack an empty one. */
const readIfPresent = (folder: string): ReadonlyMap<string, TemplateFile> =>
  existsSync(folder) ? readFiles(folder) : new Map();

/** An entry of `packages` in workspace.json. */
function readPackage(name: string, entry: unknown): Pick<FrameworkPackage, "version" | "dependencies"> {
  const { version, dependencies } = isRecord(entry) ? entry : {};
  if (typeof version !== "string" || !Array.isArray(dependencies)) {
    throw new TypeError(`workspace.json: the entry of ${name} is incomplete`);
  }
  return { version, dependencies: dependencies.map(String) };
}

/** The folder of the files of all runtimes, next to the folders of the templates. */
const runtimesFolder = "runtimes";

/** The folder of the files of all platforms. */
const deploysFolder = "deploys";

/**
 * Replaces the templates of the package with copies of a source. New projects take the versions of the framework that the
 * source has, or later ones that are compatible.
 */
export function packTemplates(source: TemplateSource, packageRoot: string): void {
  rmSync(join(packageRoot, folderName), { recursive: true, force: true });
  for (const name of templateNames) {
    const folder = join(packageRoot, folderName, name);
    const template = source.read(name);
    const {
      files,
      overlay,
      runtimes = {},
      deploys = {},
      jobs = new Map<string, TemplateFile>(),
      database = new Map<string, TemplateFile>(),
      workspace,
    } = template;
    const packages = Object.fromEntries(
      [...template.packages].map(([own, { version, dependencies }]) => [own, { version, dependencies }]),
    );
    for (const [runtime, own] of Object.entries(runtimes)) {
      writeFiles(join(packageRoot, folderName, runtimesFolder, runtime), own);
    }
    for (const [deploy, own] of Object.entries(deploys)) {
      writeFiles(join(packageRoot, folderName, deploysFolder, deploy), own);
    }
    writeFiles(join(folder, "files"), files);
    writeFiles(join(folder, "overlay"), overlay);
    writeFiles(join(folder, "jobs"), jobs);
    writeFiles(join(folder, "database"), database);
    writeFileSync(join(folder, "workspace.json"), toJson({ packages, ...workspace }));
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
