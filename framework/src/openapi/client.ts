import { messageOf } from "../error-codes.js";
import { ConfigurationError } from "../exceptions.js";
import { nodeModule } from "../platform.js";
import type { OpenAPIDocument } from "./types.js";

/** Options of `writeClient`. */
export interface ClientOptions {
  /** The file, such as `src/api.ts`. Folders that are missing are made. */
  out: string;
  /** The folder of the project that has `openapi-typescript`. Defaults to the current one. */
  from?: string;
}

/** The part of openapi-typescript 7 that is used. */
interface TypeGenerator {
  readonly default: (document: object, options: { defaultNonNullable: boolean }) => Promise<unknown>;
  readonly astToString: (ast: unknown) => string;
}

const USER = "writeClient()";
const GENERATOR = "openapi-typescript";

/** A folder for it with a TypeScript of its own: npm installs no second version beside the one that the project names. */
const OWN_FOLDER = "node_modules/.cache/tsgi-client";

async function loadGenerator(from: string): Promise<TypeGenerator> {
  const { createRequire } = nodeModule("node:module", USER);
  const paths = nodeModule("node:path", USER);
  // From there the search goes on in the project's own packages.
  const require = createRequire(paths.resolve(from, OWN_FOLDER, "index.js"));
  try {
    return require(GENERATOR) as TypeGenerator;
  } catch (error) {
    const variant = versionOf(GENERATOR, require) === null ? "install" : "load";
    throw new ConfigurationError(messageOf(`TSGI_MISSING_OPENAPI_TYPESCRIPT.${variant}`, from, installation(require)), {
      code: "TSGI_MISSING_OPENAPI_TYPESCRIPT",
      cause: error,
    });
  }
}

/** npm refuses openapi-typescript in a project whose TypeScript is not 5, its peer. */
function installation(require: NodeJS.Require): string {
  const major = versionOf("typescript", require)?.split(".")[0];
  if (major === "5") return "npm install --save-dev openapi-typescript openapi-fetch";
  const apart = `npm install --prefix ${OWN_FOLDER} openapi-typescript@7 typescript@5`;
  return versionOf("openapi-fetch", require) === null ? `npm install openapi-fetch && ${apart}` : apart;
}

/** The version of a package as the project would load it, or `null` where it has none. */
function versionOf(name: string, require: NodeJS.Require): string | null {
  try {
    const manifest: unknown = require(`${name}/package.json`);
    return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "";
  } catch {
    return null;
  }
}

/** JSON text for a comment of one line: U+2028 and U+2029 would end it (ECMA-262 §12.3). */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u2028\u2029]/g, " ");
}

/** The lines before the types. */
function headOf({ info: { title, version } }: OpenAPIDocument): string[] {
  return [
    `// Written by \`tsgi client\` from the document of ${quote(title)}, version ${quote(version)}. Changes are overwritten.`,
    'import createTypedFetch, { type Client, type ClientOptions } from "openapi-fetch";',
    "",
    "/** Makes a client. `baseUrl` says where the application is served; `headers` go with each request. */",
    "export function createClient(options: ClientOptions): Client<paths> {",
    "  return createTypedFetch<paths>(options);",
    "}",
    "",
  ];
}

/**
 * Writes a client whose calls are typed from end to end: the document's types by `openapi-typescript`, and a function
 * `createClient` around `openapi-fetch`. Both are packages of the application, loaded on use.
 *
 * @returns The text of the client's module.
 * @throws ConfigurationError that says what to install, when `openapi-typescript` is missing.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { writeClient } from "tsgi/openapi";
 *
 * const app = new App();
 * await writeClient(app.openapi(), { out: "src/api.ts" });
 * ```
 * @see {@link https://openapi-ts.dev}
 */
export async function writeClient(document: OpenAPIDocument, { out, from }: ClientOptions): Promise<string> {
  const { default: generate, astToString } = await loadGenerator(from ?? process.cwd());
  // Its types are wider than the document's, and it reads a copy: it resolves references in place.
  const types = astToString(await generate(structuredClone(document), { defaultNonNullable: false }));
  const text = [...headOf(document), types].join("\n");
  const paths = nodeModule("node:path", USER);
  const files = nodeModule("node:fs/promises", USER);
  await files.mkdir(paths.dirname(out), { recursive: true });
  await files.writeFile(out, text);
  return text;
}
