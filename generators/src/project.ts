import { randomBytes } from "node:crypto";
import { hasDatabase, type ProjectOptions } from "./answers.js";
import { renderDotenv } from "./dotenv.js";
import { LeftOut } from "./features.js";
import { isNamed, nameAfterProject } from "./own-names.js";
import { renderPackageJson } from "./package-json.js";
import { commandsOf } from "./package-manager.js";
import { packageManagerFiles } from "./package-manager-files.js";
import { fillPlaceholders, type Values } from "./placeholders.js";
import type { ProjectFile } from "./project-file.js";
import { folderOf } from "./project-name.js";
import type { Template, TemplateFile } from "./template.js";
import { renderTestTsconfig, renderTsconfig } from "./tsconfig.js";

const rename = (text: string, _: Template, { answers }: ProjectOptions) => nameAfterProject(text, answers.name);

/** Files of the template that are not copied unchanged, each with its conversion. */
const transforms: Readonly<Record<string, (text: string, template: Template, options: ProjectOptions) => string>> = {
  "package.json": renderPackageJson,
  "tsconfig.json": renderTsconfig,
  "test/tsconfig.json": renderTestTsconfig,
};

/**
 * Creates the files of a project from a template. Deterministic, except for the secret in `.env`.
 *
 * @returns sorted by path
 */
export async function renderProject(template: Template, options: ProjectOptions): Promise<ProjectFile[]> {
  const leftOut = new LeftOut(options.answers);
  const values = valuesOf(options.answers, template);
  const files = new Map<string, ProjectFile>();
  const add = (file: ProjectFile) => leftOut.hasFile(file.path) || files.set(file.path, file);

  for (const [path, file] of template.files) {
    const transform = transforms[path] ?? (isNamed(path) ? rename : undefined);
    add(copy(path, file, transform && ((text) => transform(text, template, options))));
  }
  for (const [path, file] of template.overlay) {
    // The file of an overlay is merged into that of the template.
    if (path !== "package.json") {
      // A leading underscore, because npm does not pack `.gitignore`.
      add(copy(path.replace(/(^|\/)_/, "$1."), file, (text) => fillPlaceholders(text, values)));
    }
  }
  for (const file of packageManagerFiles(options.answers.packageManager, template.workspace)) {
    add(file);
  }
  const example = files.get(".env.example");
  if (example) {
    const secret = randomBytes(48).toString("base64url");
    const contents = Buffer.from(renderDotenv(example.contents.toString("utf8"), { SECRET_KEY: secret }));
    // 0600: the key signs every token; other users of the machine must not read it.
    add({ path: ".env", contents, mode: 0o600, isKept: true });
  }
  for (const tarball of [template.framework.tarball, template.generator?.tarball]) {
    if (tarball) {
      add({ path: tarball.path, contents: await tarball.read(), mode: 0o666 });
    }
  }
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The placeholders of overlays. */
function valuesOf(
  { name, template, database, packageManager, docker, loadTests, ci }: ProjectOptions["answers"],
  { generator }: Template,
): Values {
  return {
    name,
    // Before an installation npx would ask the registry for packages that are in `vendor`.
    create: generator === undefined ? "npx create-tsgi" : "npx --no -- create-tsgi",
    databaseName: folderOf(name).replaceAll(/[^a-z0-9]/g, "_"),
    packageManager,
    ...commandsOf(packageManager),
    corepack: packageManager !== "npm",
    docker,
    loadTests,
    ci,
    sqlite: hasDatabase(template) && database === "sqlite",
    postgresql: hasDatabase(template) && database === "postgresql",
  };
}

function copy(path: string, { contents, isExecutable }: TemplateFile, change?: (text: string) => string): ProjectFile {
  return {
    path,
    contents: change ? Buffer.from(change(contents.toString("utf8"))) : contents,
    mode: isExecutable ? 0o777 : 0o666,
  };
}
