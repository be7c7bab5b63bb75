import { isRecord, parseJson, toJson } from "./json.js";
import type { Deploy, Runtime } from "./options.js";
import type { ProjectOptions } from "./answers.js";
import type { Template } from "./template.js";

/** Converts the template's tsconfig.json, which extends the workspace's, into one without a base. */
export function renderTsconfig(text: string, { workspace }: Template, { answers }: ProjectOptions): string {
  const { compilerOptions, include } = parseJson(text, "tsconfig.json");
  if (answers.runtime !== undefined && answers.runtime !== "node") {
    return renderCheckedOnly(workspace.compilerOptions, answers.runtime);
  }
  return toJson({
    compilerOptions: { ...workspace.compilerOptions, ...(isRecord(compilerOptions) ? compilerOptions : {}) },
    include,
  });
}

/** Options about files that the compiler writes: other runtimes than Node take TypeScript as it is. */
const aboutOutput = new Set(["composite", "declaration", "declarationMap", "sourceMap"]);

function renderCheckedOnly(shared: Readonly<Record<string, unknown>>, runtime: Runtime): string {
  const kept = Object.entries(shared).filter(([name]) => !aboutOutput.has(name));
  const types = runtime === "bun" ? { types: ["bun"] } : {};
  return toJson({
    compilerOptions: { ...Object.fromEntries(kept), ...types, noEmit: true },
    include: ["src", "test"],
  });
}

/** The folders of functions that a platform reads, in addition to `src`. */
const functionFolders: Readonly<Partial<Record<Deploy, string>>> = { vercel: "../api", netlify: "../netlify" };

/** Makes the tests' tsconfig.json extend the project's instead of the workspace's. The tests import functions. */
export function renderTestTsconfig(text: string, _: Template, { answers }: ProjectOptions): string {
  const { compilerOptions, ...config } = parseJson(text, "test/tsconfig.json");
  const folder = functionFolders[answers.deploy ?? "none"];
  if (folder === undefined) {
    return toJson({ compilerOptions, ...config, extends: "../tsconfig.json" });
  }
  // A function is exported without a type, which a declaration would need.
  const checked = { composite: false, declaration: false, declarationMap: false, incremental: true };
  const own = isRecord(compilerOptions) ? compilerOptions : {};
  return toJson({
    ...config,
    compilerOptions: { ...own, ...checked },
    include: [".", folder],
    extends: "../tsconfig.json",
  });
}
