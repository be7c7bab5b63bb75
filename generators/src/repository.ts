import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { optionalPackages } from "./database-packages.js";
import { isRecord, readJson, textsOf } from "./json.js";
import { deploys, runtimes, templateNames, type TemplateName } from "./options.js";
import { fingerprintOf, packPackage, type OwnPackages } from "./packed-package.js";
import { readFiles } from "./read-files.js";
import type { FrameworkPackage, Template, TemplateFile, TemplateSource, Workspace } from "./template.js";

/** The folder of the repository that is the source of each template. */
const folders: Readonly<Record<TemplateName, string>> = {
  auth: "sample-auth-app",
  api: "generators/starters/api",
  minimal: "generators/starters/minimal",
};

/** The folders of `generators/overlays/` for each template, in order. */
const overlays: Readonly<Record<TemplateName, readonly string[]>> = {
  auth: ["common", "prisma", "auth"],
  api: ["common", "starter", "api"],
  minimal: ["common", "starter", "minimal"],
};

/** Files made by tools. A test compares the rest with the files that Git tracks. */
const generated = [
  /(?:^|\/)(?:node_modules|dist|coverage|\.cache|\.DS_Store|\.env)$/,
  /^src\/generated$/,
  /\.(?:tsbuildinfo|tgz|log|db|db-journal|db-wal|db-shm)$/,
];

/** Files that only the repository has: a template omits them, and its overlay may have others in their places. */
const ownFiles =
  /^(?:test\/repository|docs|prometheus|Dockerfile|README\.md|prisma\.config\.ts|prisma\/migrations|scripts\/(?!load\.js).+)$/;

/** The development packages of every project, which the workspaces share. */
const commonTools = [
  "@jest/globals",
  "@swc/core",
  "@swc/jest",
  "@types/node",
  "@types/supertest",
  "jest",
  "oxfmt",
  "oxlint",
  "oxlint-tsgolint",
  "supertest",
  "tsx",
  "typescript",
];

/** The development packages of some projects. */
const ownTools: Readonly<Record<TemplateName, readonly string[]>> = {
  auth: [],
  api: ["autocannon"],
  minimal: ["autocannon"],
};

/** The templates of the repository. */
export class Repository implements TemplateSource {
  readonly #root: string;
  readonly #generators: string;

  private constructor(generators: string) {
    this.#generators = generators;
    this.#root = join(generators, "..");
  }

  /** The repository that contains a folder `generators/`, or `null` in the published package. */
  static find(generators: string): Repository | null {
    // The package is published without its sources.
    return existsSync(join(generators, "src/repository.ts")) ? new Repository(generators) : null;
  }

  read(name: TemplateName): Required<Template> {
    return {
      files: this.#readProject(name),
      overlay: new Map(overlays[name].flatMap((folder) => [...readFiles(join(this.#generators, "overlays", folder))])),
      runtimes: Object.fromEntries(
        runtimes
          .filter((runtime) => runtime !== "node")
          .map((runtime) => [runtime, readFiles(join(this.#generators, "overlays/runtimes", runtime))]),
      ),
      deploys: Object.fromEntries(
        deploys
          // A project on Cloudflare has the files of the runtime `workers`.
          .filter((deploy) => deploy !== "none" && deploy !== "cloudflare")
          .map((deploy) => [deploy, readFiles(join(this.#generators, "overlays/deploy", deploy))]),
      ),
      workspace: this.#readWorkspace([...commonTools, ...ownTools[name]], optionalPackages),
      jobs: name === "auth" ? new Map() : readFiles(join(this.#generators, "overlays/jobs")),
      database: new Map(
        name === "api"
          ? ["prisma", "database"].flatMap((folder) => [...readFiles(join(this.#generators, "overlays", folder))])
          : [],
      ),
      packages: this.#readPackages(),
      generator: packPackage(
        this.#generators,
        { name: "create-tsgi", folders: [this.#generators], fingerprint: () => this.#fingerprint() },
        this.#cache,
      ),
    };
  }

  #readProject(name: TemplateName): Map<string, TemplateFile> {
    const isLeftOut = (path: string) => [...generated, ownFiles].some((pattern) => pattern.test(path));
    const files = readFiles(join(this.#root, folders[name]), isLeftOut);
    // The configuration of nginx is the same for each application.
    const nginx = name === "api" ? readFiles(join(this.#root, folders.auth, "nginx")) : [];
    const all = [...files, ...[...nginx].map(([path, file]) => [`nginx/${path}`, file] as const)];
    return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  get #cache(): string {
    return join(this.#generators, ".cache");
  }

  /** The folders of the framework's packages. */
  #packageFolders(): string[] {
    const framework = join(this.#root, "framework");
    return readdirSync(framework)
      .map((name) => join(framework, name))
      .filter((folder) => existsSync(join(folder, "package.json")));
  }

  #readPackages(): ReadonlyMap<string, FrameworkPackage> {
    const packages = this.#packageFolders();
    const own: OwnPackages = {
      name: "framework",
      folders: packages,
      builtIn: join(this.#root, "framework"),
      fingerprint: once(() =>
        createHash("sha256").update(packages.map(fingerprintOf).join()).digest("hex").slice(0, 16),
      ),
    };
    const manifests = packages.map((folder) => readJson(join(folder, "package.json")));
    const names = new Set(manifests.map(({ name }) => String(name)));
    return new Map(
      packages.map((folder, index) => {
        const { name, version, dependencies, peerDependencies, peerDependenciesMeta } = manifests[index] ?? {};
        // A project that uses an optional peer imports it, so its files name it.
        const peers = Object.keys(textsOf(peerDependencies)).filter((one) => !isOptional(peerDependenciesMeta, one));
        const needed = [...Object.keys(textsOf(dependencies)), ...peers].filter((one) => names.has(one));
        const source = packPackage(folder, own, this.#cache);
        return [String(name), { ...source, version: String(version), dependencies: needed }] as const;
      }),
    );
  }

  /** A hash of this package and all templates, which it includes. */
  #fingerprint(): string {
    const hash = createHash("sha256").update(fingerprintOf(this.#generators));
    for (const name of templateNames) {
      const { files, overlay, runtimes: own, deploys: deployed, jobs, database, workspace, packages } = this.read(name);
      const all = [files, overlay, jobs, database, ...Object.values(own), ...Object.values(deployed)].flatMap(
        (some) => [...some],
      );
      for (const [path, { contents, isExecutable }] of all) {
        hash.update(`${path} ${contents.length} ${isExecutable}\n`).update(contents);
      }
      hash.update(JSON.stringify([workspace, [...packages]]));
    }
    return hash.digest("hex").slice(0, 16);
  }

  #readWorkspace(tools: readonly string[], packages: readonly string[]): Workspace {
    const { compilerOptions } = readJson(join(this.#root, "tsconfig.base.json"));
    if (!isRecord(compilerOptions)) {
      throw new TypeError("tsconfig.base.json has no compilerOptions");
    }
    // A tool may be in any of the workspaces.
    const workspaces = ["", "framework", "sample-auth-app", "load-tests"].map((name) => join(this.#root, name));
    const manifests = [...workspaces, ...this.#packageFolders()].map((folder) => {
      const { dependencies, devDependencies } = readJson(join(folder, "package.json"));
      return { ...textsOf(dependencies), ...textsOf(devDependencies) };
    });
    const versionsOf = (names: readonly string[]) =>
      Object.fromEntries(
        names.map((name) => {
          const version = manifests.find((versions) => versions[name] !== undefined)?.[name];
          if (version === undefined) {
            throw new TypeError(`no package.json of the repository installs ${name}`);
          }
          return [name, version] as const;
        }),
      );
    // Other overrides remove parts of packages. Projects do without these.
    const pins = Object.entries(textsOf(readJson(join(this.#root, "package.json"))["overrides"])).filter(
      ([, version]) => /^\d/.test(version),
    );
    return {
      devDependencies: versionsOf(tools),
      optionalPackages: versionsOf(packages),
      overrides: Object.fromEntries(pins),
      compilerOptions,
    };
  }
}

/** A function that computes its result at its first call. */
function once(compute: () => string): () => string {
  let result: string | undefined;
  return () => (result ??= compute());
}

/** Tells if a manifest's `peerDependenciesMeta` marks a peer as optional. */
function isOptional(meta: unknown, name: string): boolean {
  const entry = isRecord(meta) ? meta[name] : undefined;
  return isRecord(entry) && entry["optional"] === true;
}
