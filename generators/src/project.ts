import { randomBytes } from "node:crypto";
import { renderDotenv } from "./dotenv.js";
import { renderPackageJson } from "./package-json.js";
import type { ProjectFile } from "./project-file.js";
import type { Template, TemplateFile } from "./template.js";
import { renderTestTsconfig, renderTsconfig } from "./tsconfig.js";

/** What the person who makes a project decides about its files. */
export interface ProjectOptions {
  /** Its npm name. */
  name: string;
  /** The version of the generator, kept in the project for a later upgrade. */
  generatorVersion: string;
  /** The name of the template, kept as well. */
  templateName: string;
}

/** Files of the template that are not copied as they are, each with what becomes of it. */
const transforms: Readonly<Record<string, (text: string, template: Template, options: ProjectOptions) => string>> = {
  "package.json": renderPackageJson,
  "tsconfig.json": renderTsconfig,
  "test/tsconfig.json": renderTestTsconfig,
};

/**
 * Makes all files of a project out of a template. Apart from the secret in `.env` the same input gives the same files.
 *
 * @returns sorted by path
 */
export async function renderProject(template: Template, options: ProjectOptions): Promise<ProjectFile[]> {
  const files = new Map<string, ProjectFile>();
  const add = (file: ProjectFile) => files.set(file.path, file);

  for (const [path, file] of template.files) {
    const transform = transforms[path];
    add(copy(path, file, transform && ((text) => transform(text, template, options))));
  }
  for (const [path, file] of template.overlay) {
    // A leading underscore: npm never packs a file called .gitignore.
    add(copy(path.replace(/(^|\/)_/, "$1."), file, (text) => text.replaceAll("{{name}}", options.name)));
  }
  const example = files.get(".env.example");
  if (example) {
    const secret = randomBytes(48).toString("base64url");
    const contents = Buffer.from(renderDotenv(example.contents.toString("utf8"), { SECRET_KEY: secret }));
    // 0600: the key signs every token, so nobody else on the machine may read it.
    add({ path: ".env", contents, mode: 0o600, isKept: true });
  }
  const { tarball } = template.framework;
  if (tarball) {
    add({ path: tarball.path, contents: await tarball.read(), mode: 0o666 });
  }
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function copy(path: string, { contents, isExecutable }: TemplateFile, change?: (text: string) => string): ProjectFile {
  return {
    path,
    contents: change ? Buffer.from(change(contents.toString("utf8"))) : contents,
    mode: isExecutable ? 0o777 : 0o666,
  };
}
