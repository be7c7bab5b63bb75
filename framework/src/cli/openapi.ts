/** `tsgi openapi` and `tsgi client`: the document of an application without a server, and a client typed by it. @module */
import { readFile, writeFile } from "node:fs/promises";
import { ConfigurationError } from "../exceptions.js";
import { type OpenAPIDocument, writeClient } from "../openapi.js";
import { CommandError, commandError, showError } from "./errors.js";
import { loadTsgiApp } from "./load-app.js";

export async function writeOpenAPI(module: string | undefined, options: { out?: string }): Promise<void> {
  const { app } = await loadTsgiApp(module);
  const document = app.openapi();
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const { out } = options;
  if (out === undefined) {
    process.stdout.write(text);
    return;
  }
  await writeFile(out, text).catch((error: unknown) => {
    throw commandError("TSGI_UNWRITABLE_FILE", out, showError(error));
  });
  const count = Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0);
  process.stderr.write(`Wrote ${out}: ${count} operations.\n`);
}

export async function showClient(source: string | undefined, { out }: { out: string }): Promise<void> {
  const document = await readDocument(source);
  await writeClient(document, { out }).catch((error: unknown) => {
    throw error instanceof ConfigurationError ? new CommandError(error.code, error.message) : error;
  });
  process.stderr.write(`Wrote ${out}. Call it as createClient({ baseUrl }).GET("/…").\n`);
}

/** The document of a module, of a file that ends in `.json`, or at an address. */
async function readDocument(source: string | undefined): Promise<OpenAPIDocument> {
  if (source === undefined || !/^https?:|\.json$/.test(source)) return (await loadTsgiApp(source)).app.openapi();
  try {
    const text = /^https?:/.test(source) ? await download(source) : await readFile(source, "utf8");
    const document: unknown = JSON.parse(text);
    if (typeof document === "object" && document !== null && "openapi" in document) return document as OpenAPIDocument;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw commandError("TSGI_UNREADABLE_DOCUMENT.file", source, showError(error));
  }
  throw commandError("TSGI_NOT_AN_OPENAPI_DOCUMENT", source);
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  if (response.ok) return response.text();
  const status = `${response.status} ${response.statusText}`;
  throw commandError("TSGI_UNREADABLE_DOCUMENT.answer", url, status);
}
