import type { TemplateName } from "./options.js";

/** One file of a template, as it lies in the sample application. */
export interface TemplateFile {
  contents: Buffer;
  isExecutable: boolean;
}

/** What a project takes over from the workspace that the template lives in. */
export interface Workspace {
  /** The tools that all parts of the workspace share, with their versions. */
  devDependencies: Readonly<Record<string, string>>;
  /** Versions of packages further down, chosen where the newest one cannot be installed everywhere. */
  overrides: Readonly<Record<string, string>>;
  /** The compiler options that the template's own tsconfig.json extends. */
  compilerOptions: Readonly<Record<string, unknown>>;
}

/** How a project comes by a package of the repository. */
export interface PackageSource {
  /** What stands in `package.json`: a range, or `file:` and the path of {@link PackageSource.tarball}. */
  specifier: string;
  /** The packed package, which a project made from the repository carries along. */
  tarball?: { path: string; read: () => Promise<Buffer> };
}

/** Everything that a project is made from. */
export interface Template {
  /** By path, relative, with `/` between the parts, in alphabetical order. */
  files: ReadonlyMap<string, TemplateFile>;
  /** Files that stand beside or in the place of the template's own in a project. */
  overlay: ReadonlyMap<string, TemplateFile>;
  workspace: Workspace;
  framework: PackageSource;
  /** This package, where the registry does not have it: what is there `npx create-tsgi` gets by itself. */
  generator?: PackageSource;
}

/** Where templates come from: the repository, or the published package. */
export interface TemplateSource {
  read(name: TemplateName): Template;
}
