import { isRecord, parseJson, toJson } from "./json.js";
import type { Template } from "./template.js";

/** Turns the template's tsconfig.json, which extends the workspace's, into one that stands alone. */
export function renderTsconfig(text: string, { workspace }: Template): string {
  const { compilerOptions, include } = parseJson(text, "tsconfig.json");
  return toJson({
    compilerOptions: { ...workspace.compilerOptions, ...(isRecord(compilerOptions) ? compilerOptions : {}) },
    include,
  });
}

/** Lets the tests' tsconfig.json extend the project's instead of the workspace's. */
export function renderTestTsconfig(text: string): string {
  return toJson({ ...parseJson(text, "test/tsconfig.json"), extends: "../tsconfig.json" });
}
