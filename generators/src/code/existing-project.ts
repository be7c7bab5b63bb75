import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { CommandError } from "../errors.js";
import { isRecord, readJson, textsOf, type JsonObject } from "../json.js";
import { runtimes, type Runtime } from "../options.js";
import { fromRuntime } from "../runtimes.js";
import { findRegistrars, type Registrar } from "./registrars.js";
import { SourceFile } from "./source-file.js";

/** A module that holds an App or a Router. */
export interface Module {
  /** Relative to the project, with `/` between the parts. */
  path: string;
  file: SourceFile;
  registrars: readonly Registrar[];
}

/** The way in which the tests of a project open its application. */
export interface TestOpening {
  /** The module that exports the name, relative to the project. */
  path: string;
  name: string;
  /** `openApp` is a helper of the tests, `createApp` creates an App, `app` is an App. */
  kind: "helper" | "factory" | "app";
}

export class ExistingProject {
  readonly folder: string;
  readonly manifest: JsonObject;
  #modules: Module[] | undefined;

  private constructor(folder: string, manifest: JsonObject) {
    this.folder = folder;
    this.manifest = manifest;
  }

  /**
   * Opens the project whose root is this folder.
   *
   * @throws CommandError when the folder is not a project that uses tsgi
   */
  static open(folder: string): ExistingProject {
    const path = ["package.json", "deno.json"].map((name) => join(folder, name)).find((file) => existsSync(file));
    if (path === undefined) {
      throw new CommandError(
        `${folder} is not a project: package.json is missing; change to the folder of your project`,
      );
    }
    let manifest: JsonObject;
    try {
      manifest = readJson(path);
    } catch (error) {
      throw new CommandError(`${path} cannot be read: ${String(error)}`);
    }
    if (!("tsgi" in { ...textsOf(manifest["dependencies"]), ...textsOf(manifest["imports"]) })) {
      throw new CommandError(`${path} does not depend on tsgi; change to the folder of your project`);
    }
    return new ExistingProject(folder, manifest);
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  /** The text of a file. Its imports are written as on Node, for every runtime. */
  read(path: string): string {
    return fromRuntime(readFileSync(join(this.folder, path), "utf8"), this.runtime);
  }

  get runtime(): Runtime {
    return runtimes.find((name) => name === this.kept["runtime"]) ?? "node";
  }

  /** The entry of create-tsgi in package.json, or in deno.json. */
  get kept(): JsonObject {
    const kept = this.manifest["create-tsgi"];
    return isRecord(kept) ? kept : {};
  }

  /** The modules in `src/` that hold an App or a Router, in alphabetical order. */
  get modules(): readonly Module[] {
    this.#modules ??= this.#sources().flatMap((path) => {
      const text = this.read(path);
      // Skips the syntax tree of other files.
      if (!/\bnew (?:App|Router)\b/.test(text)) {
        return [];
      }
      const file = new SourceFile(path, text);
      const registrars = findRegistrars(file, (specifier) => this.#open(path, specifier));
      return registrars.length > 0 ? [{ path, file, registrars }] : [];
    });
    return this.#modules;
  }

  /**
   * The module that makes the App, and that App.
   *
   * @throws CommandError if it is missing
   */
  get app(): { module: Module; registrar: Registrar } {
    for (const module of this.modules) {
      const registrar = module.registrars.find(({ kind }) => kind === "App");
      if (registrar) {
        return { module, registrar };
      }
    }
    throw new CommandError("no file in src/ declares a variable with new App(…)");
  }

  /** True for tests with jest, false for tests with `node:test`. */
  get usesJest(): boolean {
    return "jest" in textsOf(this.manifest["devDependencies"]);
  }

  /** True where tests have a client with the types of the routes, and `expect`. Bun and Deno include one. */
  get hasTypedClient(): boolean {
    const { dependencies, devDependencies, imports } = this.manifest;
    const packages = { ...textsOf(dependencies), ...textsOf(devDependencies), ...textsOf(imports) };
    return "@tsgi/client" in packages && (this.usesJest || this.runtime !== "node");
  }

  /** The way in which a test opens the application. */
  get testOpening(): TestOpening {
    if (this.has("test/support.ts") && exportsName(this.read("test/support.ts"), "openApp")) {
      return { path: "test/support.ts", name: "openApp", kind: "helper" };
    }
    const { module, registrar } = this.app;
    if (exportsName(this.read(module.path), "createApp")) {
      return { path: module.path, name: "createApp", kind: "factory" };
    }
    return { path: module.path, name: registrar.variable, kind: "app" };
  }

  /** A module of the project that another one imports; `null` for a package. */
  #open(from: string, specifier: string): SourceFile | null {
    const path = posix.join(posix.dirname(from), specifier).replace(/\.js$/, ".ts");
    return specifier.startsWith(".") && path.endsWith(".ts") && this.has(path)
      ? new SourceFile(path, this.read(path))
      : null;
  }

  #sources(): string[] {
    if (!this.has("src")) {
      return [];
    }
    const entries = readdirSync(join(this.folder, "src"), { recursive: true, encoding: "utf8" });
    return entries
      .map((path) => `src/${path.replaceAll("\\", "/")}`)
      .filter((path) => /(?<!\.d)\.ts$/.test(path) && !/\/(?:generated|node_modules)\//.test(path))
      .toSorted();
  }
}

/** True if a module exports a function or variable of this name. */
function exportsName(text: string, name: string): boolean {
  return new SourceFile("", text).statements.some((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : null;
    if (declaration?.type === "FunctionDeclaration") {
      return declaration.id?.name === name;
    }
    return (
      declaration?.type === "VariableDeclaration" &&
      declaration.declarations.some(({ id }) => id.type === "Identifier" && id.name === name)
    );
  });
}

/** The specifier of an import: `../src/app.js` in `test/x.test.ts`. */
export function importPath(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to).replace(/\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}
