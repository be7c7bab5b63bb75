/** `writeClient`: a typed client as a TypeScript file. @module */
import { clientTypes } from "./client-types.js";
import type { OpenAPIDocument } from "tsgi/openapi";

/** Options of `writeClient`. */
export interface ClientOptions {
  /** The file, such as `src/api.ts`. Folders that are missing are made. */
  out: string;
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
    "/** Creates a client. `baseUrl` is the URL of the application; `headers` are sent with each request. */",
    "export function createClient(options: ClientOptions): Client<paths> {",
    "  return createTypedFetch<paths>(options);",
    "}",
    "",
  ];
}

/**
 * Writes a client whose calls are typed from end to end: the document's types in the form of `openapi-typescript`, and a
 * function `createClient` around `openapi-fetch`, which is a package of the application. Needs no compiler.
 *
 * @returns The text of the client's module.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { writeClient } from "@tsgi/openapi-tools";
 *
 * const app = new App();
 * await writeClient(app.openapi(), { out: "src/api.ts" });
 * ```
 * @see {@link https://openapi-ts.dev}
 */
export async function writeClient(document: OpenAPIDocument, { out }: ClientOptions): Promise<string> {
  const text = [...headOf(document), clientTypes(document)].join("\n");
  // Not imported: a bundler for the web rejects imports of Node's modules, even if they are never reached.
  const paths = process.getBuiltinModule("node:path");
  const files = process.getBuiltinModule("node:fs/promises");
  await files.mkdir(paths.dirname(out), { recursive: true });
  await files.writeFile(out, text);
  return text;
}
