import { join } from "node:path";
import { readJson } from "./json.js";
import type { TemplateName } from "./options.js";
import { PackedTemplates } from "./packed-templates.js";
import { Repository } from "./repository.js";
import type { Template } from "./template.js";

/** The templates of this package. */
export interface Templates {
  /** The version of this package. */
  version: string;
  read(name: TemplateName): Template;
}

/** Finds the templates: the applications of the repository, or their copies in the published package. */
export function findTemplates(packageRoot: string): Templates {
  const source = Repository.find(packageRoot) ?? new PackedTemplates(packageRoot);
  return { version: versionOf(packageRoot), read: (name) => source.read(name) };
}

/** The version of the package in a folder. */
export function versionOf(packageRoot: string): string {
  return String(readJson(join(packageRoot, "package.json"))["version"]);
}
