import { existsSync } from "node:fs";
import { join } from "node:path";
import { packFramework } from "./framework-tarball.js";
import { isRecord, readJson } from "./json.js";
import type { TemplateName } from "./options.js";
import { readFiles } from "./read-files.js";
import type { Template, TemplateSource, Workspace } from "./template.js";

/** The folder of the repository that is the source of each template. */
const folders: Readonly<Record<TemplateName, string>> = { auth: "sample-auth-app" };

/** What tools leave in a folder of the repository; a test compares it with the files that Git tracks. */
const generated = [
  /(?:^|\/)(?:node_modules|dist|coverage|\.cache|\.DS_Store|\.env)$/,
  /^src\/generated$/,
  /\.(?:tsbuildinfo|tgz|log|db|db-journal|db-wal|db-shm)$/,
];

/** The tools that a project needs and that the workspace installs at its root. */
const tools = ["@jest/globals", "@swc/core", "@swc/jest", "@types/node", "jest", "supertest", "typescript"];

/** The templates as they lie in the repository. */
export class Repository implements TemplateSource {
  readonly #root: string;
  readonly #generators: string;

  private constructor(generators: string) {
    this.#generators = generators;
    this.#root = join(generators, "..");
  }

  /** The repository around a folder `generators/`, or `null` when that folder is the published package. */
  static find(generators: string): Repository | null {
    // The package is published without its sources.
    return existsSync(join(generators, "src/repository.ts")) ? new Repository(generators) : null;
  }

  read(name: TemplateName): Template {
    return {
      files: readFiles(join(this.#root, folders[name]), (path) => generated.some((pattern) => pattern.test(path))),
      overlay: readFiles(join(this.#generators, "overlays", name)),
      workspace: this.#readWorkspace(),
      framework: packFramework(join(this.#root, "framework"), join(this.#generators, ".cache")),
    };
  }

  #readWorkspace(): Workspace {
    const { devDependencies } = readJson(join(this.#root, "package.json"));
    const { compilerOptions } = readJson(join(this.#root, "tsconfig.base.json"));
    if (!isRecord(devDependencies) || !isRecord(compilerOptions)) {
      throw new TypeError("package.json has no devDependencies, or tsconfig.base.json no compilerOptions");
    }
    const versions = tools.map((tool) => {
      const version = devDependencies[tool];
      if (typeof version !== "string") {
        throw new TypeError(`package.json of the workspace does not install ${tool}`);
      }
      return [tool, version] as const;
    });
    return { devDependencies: Object.fromEntries(versions), compilerOptions };
  }
}
