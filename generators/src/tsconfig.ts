import { isRecord, parseJson, toJson } from "./json.js";
import type { Runtime } from "./options.js";
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

/** Makes the tests' tsconfig.json extend that of the project instead of the workspace's. */
export function renderTestTsconfig(text: string): string {
  return toJson({ ...parseJson(text, "test/tsconfig.json"), extends: "../tsconfig.json" });
}
