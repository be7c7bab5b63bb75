import type { Deploy, Runtime, TemplateName } from "./options.js";

/** One file of a template. */
export interface TemplateFile {
  contents: Buffer;
  isExecutable: boolean;
}

/** The parts of the workspace that a project needs. */
export interface Workspace {
  /** The shared development packages, with their versions. */
  devDependencies: Readonly<Record<string, string>>;
  /** The versions of the packages that only some projects have. */
  optionalPackages?: Readonly<Record<string, string>>;
  /** Versions of indirect dependencies whose newest one cannot be installed everywhere. */
  overrides: Readonly<Record<string, string>>;
  /** The compiler options that the template's tsconfig.json extends. */
  compilerOptions: Readonly<Record<string, unknown>>;
}

/** The source of a package of the repository. */
export interface PackageSource {
  /** Its specifier in `package.json`: a range, or `file:` and the path of {@link PackageSource.tarball}. */
  specifier: string;
  /** The tarball that a project created from the repository includes. */
  tarball?: { path: string; read: () => Promise<Buffer> };
}

/** One of the framework's packages. */
export interface FrameworkPackage extends PackageSource {
  version: string;
  /** The names of the framework's other packages that it installs. */
  dependencies: readonly string[];
}

/** The sources of a project. */
export interface Template {
  /** By relative path with `/` between the parts, in alphabetical order. */
  files: ReadonlyMap<string, TemplateFile>;
  /** Files of a project in addition to, or instead of, the files of the template. */
  overlay: ReadonlyMap<string, TemplateFile>;
  /** The files of a project on a runtime instead of, or in addition to, the files of the overlay. */
  runtimes?: Partial<Readonly<Record<Runtime, ReadonlyMap<string, TemplateFile>>>>;
  /** The files of a project for a platform, in addition to the overlay. */
  deploys?: Partial<Readonly<Record<Deploy, ReadonlyMap<string, TemplateFile>>>>;
  /** The files of a project with a database instead of, or in addition to, the files of the overlay. */
  database?: ReadonlyMap<string, TemplateFile>;
  /** The files of a project with jobs, in addition to the files of the overlay. */
  jobs?: ReadonlyMap<string, TemplateFile>;
  workspace: Workspace;
  /** The framework's packages by name. A project installs those that it uses. */
  packages: ReadonlyMap<string, FrameworkPackage>;
  /** This package, unless the registry has it. From there `npx create-tsgi` gets it by itself. */
  generator?: PackageSource;
}

/** A source of templates: the repository, or the published package. */
export interface TemplateSource {
  read(name: TemplateName): Template;
}
