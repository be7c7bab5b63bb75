import type { TemplateName } from "../src/options.js";
import { Repository } from "../src/repository.js";
import type { Template } from "../src/template.js";
import { packageRoot } from "./support.js";

const read = new Map<TemplateName, Required<Template>>();

/** A template of the repository, read once: it has a hash of all sources, to find their packed packages. */
export function templateOf(name: TemplateName): Required<Template> {
  const template = read.get(name) ?? Repository.find(packageRoot)?.read(name);
  if (template === undefined) throw new Error("the tests run in the repository");
  read.set(name, template);
  return template;
}
