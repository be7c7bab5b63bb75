/** The pages for agents in the package `tsgi`: the pages of a scaffolded project, with npm's commands. */
import { mkdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import path from "node:path";
import { FRAMEWORK } from "./packages.js";

const TEMPLATES = path.join(FRAMEWORK, "../generators/overlays/common");

/** Each page in the package with its template. */
const PAGES = { "AGENTS.md": "AGENTS.md", "skills/tsgi/SKILL.md": "_agents/skills/tsgi/SKILL.md" };

const VALUES = {
  name: "An application on tsgi",
  run: "npm run",
  test: "npm test",
  create: "npm create tsgi --",
  tsgi: "npx tsgi",
};

function fill(template) {
  return template
    .replaceAll(/^\{\{[#/]growing\}\}\n\n?/gm, "")
    .replaceAll(/^\{\{#jobs\}\}\n[^]*?^\{\{\/jobs\}\}\n/gm, "") // about files that only a project with jobs has
    .replaceAll(/\{\{(\w+)\}\}/g, (_, name) => {
      if (!Object.hasOwn(VALUES, name)) throw new TypeError(`{{${name}}} of a page for agents has no value`);
      return VALUES[name];
    })
    .replaceAll(".agents/skills/", "skills/");
}

/** Writes the pages into a package, but only those that have changed: tools take a newer file for a changed one. */
export function writeAgentPages(folder) {
  for (const [name, template] of Object.entries(PAGES)) {
    const text = fill(readFileSync(path.join(TEMPLATES, template), "utf8"));
    const file = path.join(folder, name);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
