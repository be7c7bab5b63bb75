import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { CommandError } from "../errors.js";
import { isRecord, readJson, textsOf, type JsonObject } from "../json.js";
import { findRegistrars, type Registrar } from "./registrars.js";
import { SourceFile } from "./source-file.js";

/** A module that holds an App or a Router. */
export interface Module {
  /** Relative to the project, with `/` between the parts. */
  path: string;
  file: SourceFile;
  registrars: readonly Registrar[];
}

/** How the tests of a project open its application. */
export interface TestOpening {
  /** Where the name comes from, relative to the project. */
  path: string;
  name: string;
  /** `openApp` is a helper of the tests, `createApp` makes an App, `app` is one. */
  kind: "helper" | "factory" | "app";
}

/** A project that code is written into. */
export class ExistingProject {
  readonly folder: string;
  readonly manifest: JsonObject;
  #modules: Module[] | undefined;

  private constructor(folder: string, manifest: JsonObject) {
    this.folder = folder;
    this.manifest = manifest;
  }

  /**
   * The project that a folder is the root of.
   *
   * @throws CommandError when it is none that uses tsgi
   */
  static open(folder: string): ExistingProject {
    const path = join(folder, "package.json");
    if (!existsSync(path)) {
      throw new CommandError(`${folder} is no project: it has no package.json (go to the folder of your project)`);
    }
    let manifest: JsonObject;
    try {
      manifest = readJson(path);
    } catch (error) {
      throw new CommandError(`${path} cannot be read: ${String(error)}`);
    }
    if (!("tsgi" in textsOf(manifest["dependencies"]))) {
      throw new CommandError(`${path} does not depend on tsgi (go to the folder of your project)`);
    }
    return new ExistingProject(folder, manifest);
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** What create-tsgi keeps in package.json. */
  get kept(): JsonObject {
    const kept = this.manifest["create-tsgi"];
    return isRecord(kept) ? kept : {};
  }

  /** The modules in `src/` that hold an App or a Router, in alphabetical order. */
  get modules(): readonly Module[] {
    this.#modules ??= this.#sources().flatMap((path) => {
      const text = this.read(path);
      // Only these are worth a syntax tree.
      if (!/\bnew (?:App|Router)\b/.test(text)) {
        return [];
      }
      const file = new SourceFile(path, text);
      const registrars = findRegistrars(file);
      return registrars.length > 0 ? [{ path, file, registrars }] : [];
    });
    return this.#modules;
  }

  /**
   * The module that makes the App, and that App.
   *
   * @throws CommandError when there is none
   */
  get app(): { module: Module; registrar: Registrar } {
    for (const module of this.modules) {
      const registrar = module.registrars.find(({ kind }) => kind === "App");
      if (registrar) {
        return { module, registrar };
      }
    }
    throw new CommandError("no file in src/ holds a variable that is a new App(…)");
  }

  /** Whether the tests are jest's; otherwise they are Node's own. */
  get usesJest(): boolean {
    return "jest" in textsOf(this.manifest["devDependencies"]);
  }

  /** How a test opens the application. */
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

/** Whether a module declares a function or variable of this name for others. */
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

/** How one module of a project names another: `../src/app.js` in `test/x.test.ts`. */
export function importPath(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to).replace(/\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}
