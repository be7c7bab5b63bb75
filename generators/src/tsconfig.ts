import { isRecord, parseJson, toJson } from "./json.js";
import type { Template } from "./template.js";

/** Converts the template's tsconfig.json, which extends the workspace's, into one without a base. */
export function renderTsconfig(text: string, { workspace }: Template): string {
  const { compilerOptions, include } = parseJson(text, "tsconfig.json");
  return toJson({
    compilerOptions: { ...workspace.compilerOptions, ...(isRecord(compilerOptions) ? compilerOptions : {}) },
    include,
  });
}

/** Makes the tests' tsconfig.json extend that of the project instead of the workspace's. */
export function renderTestTsconfig(text: string): string {
  return toJson({ ...parseJson(text, "test/tsconfig.json"), extends: "../tsconfig.json" });
}
