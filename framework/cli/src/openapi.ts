/** `tsgi openapi` and `tsgi client`: the document of an application without a server, and a client typed by it. @module */
import { readFile, writeFile } from "node:fs/promises";
import { ConfigurationError } from "tsgi";
import { buildAsyncAPI, type Change, compareDocuments, writeClient } from "@tsgi/openapi-tools";
import type { OpenAPIDocument } from "tsgi/openapi";
import { CommandError, commandError, commandMessage, EXIT, showError } from "./errors.js";
import { exportedJobs } from "./find-jobs.js";
import { loadTsgiApp } from "./load-app.js";
import type { Terminal } from "./terminal.js";

/** The flags of `tsgi openapi`. */
export interface OpenAPIFlags {
  readonly out?: string;
  readonly check?: string;
  readonly write?: boolean;
  readonly async?: boolean;
}

/** Returns the exit status. */
export async function showOpenAPI(
  module: string | undefined,
  flags: OpenAPIFlags,
  terminal: Terminal,
): Promise<number> {
  const { out, check, write } = flags;
  if (flags.async === true) return showAsyncAPI(module, out, terminal);
  // Before the application is loaded, which may take long and print something.
  const committed = check === undefined ? null : await readCommitted(check, write === true);
  const { app } = await loadTsgiApp(module);
  const document = app.openapi();
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (check !== undefined) {
    return checkDocument(document, text, check, { committed, write: write === true, terminal });
  }
  if (out === undefined) terminal.print(text);
  else await writeDocument(document, text, out, terminal);
  return EXIT.done;
}

async function showAsyncAPI(module: string | undefined, out: string | undefined, terminal: Terminal): Promise<number> {
  const { app, file } = await loadTsgiApp(module);
  const document = buildAsyncAPI(app, (await exportedJobs(file)) ?? undefined);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (out === undefined) terminal.print(text);
  else await writeText(text, out, countOf(Object.keys(document.channels).length, "channel"), terminal);
  return EXIT.done;
}

async function writeDocument(document: OpenAPIDocument, text: string, out: string, terminal: Terminal): Promise<void> {
  const count = Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0);
  await writeText(text, out, countOf(count, "operation"), terminal);
}

async function writeText(text: string, out: string, content: string, terminal: Terminal): Promise<void> {
  await writeFile(out, text).catch((error: unknown) => failToWrite(out, error));
  terminal.say(`Wrote ${out}: ${content}.`);
}

function failToWrite(out: string, error: unknown): never {
  throw commandError("TSGI_UNWRITABLE_FILE.out", out, showError(error));
}

/** A committed document, and the text that it is read from. */
interface Committed {
  readonly document: object;
  readonly text: string;
}

/** @param mayBeMissing - For the first `--write`, which creates the file: returns `null`. */
async function readCommitted(file: string, mayBeMissing: boolean): Promise<Committed | null> {
  try {
    const text = await readFile(file, "utf8");
    const document: unknown = JSON.parse(text);
    if (isOpenAPI3(document)) return { document, text };
  } catch (error) {
    if (mayBeMissing && error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    const reason = error instanceof Error ? error.message : String(error);
    const message = commandMessage("TSGI_UNREADABLE_DOCUMENT.check", file, reason);
    throw new CommandError("TSGI_UNREADABLE_DOCUMENT", message, EXIT.usage);
  }
  const message = commandMessage("TSGI_NOT_AN_OPENAPI_DOCUMENT", file);
  throw new CommandError("TSGI_NOT_AN_OPENAPI_DOCUMENT", message, EXIT.usage);
}

function isOpenAPI3(value: unknown): value is object {
  return typeof value === "object" && value !== null && "openapi" in value && String(value.openapi).startsWith("3.");
}

async function checkDocument(
  document: OpenAPIDocument,
  text: string,
  file: string,
  { committed, write, terminal }: { committed: Committed | null; write: boolean; terminal: Terminal },
): Promise<number> {
  const changes = committed === null ? [] : compareDocuments(committed.document, document);
  const breaking = changes.filter(({ kind }) => kind === "breaking");
  const additions = changes.filter(({ kind }) => kind === "addition");
  for (const change of [...breaking, ...additions]) terminal.printLine(showChange(change));
  const summary = `${countOf(breaking.length, "breaking change")}, ${countOf(additions.length, "addition")}`;
  const isEqual = committed?.text === text;
  const hint = isEqual || write ? "" : " Update the file with --write.";
  terminal.say(`${file}: ${isEqual ? "no change" : summary}.${hint}`);
  if (write && !isEqual) await writeDocument(document, text, file, terminal);
  return write || breaking.length === 0 ? EXIT.done : EXIT.failed;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** One line: kind, operation, place, and what to do. */
function showChange({ kind, operation, place, message, remedy }: Change): string {
  const where = place === "" ? operation : `${operation} ${place}`;
  return `${kind.padEnd("breaking".length)}  ${where}: ${message}.${remedy === "" ? "" : ` ${remedy}`}`;
}

export async function showClient(
  source: string | undefined,
  { out }: { out: string },
  terminal: Terminal,
): Promise<void> {
  const document = await readDocument(source);
  await writeClient(document, { out }).catch((error: unknown) => {
    if (error instanceof Error && "syscall" in error) failToWrite(out, error);
    throw error instanceof ConfigurationError ? new CommandError(error.code, error.message) : error;
  });
  terminal.say(`Wrote ${out}. Call it as createClient({ baseUrl }).GET("/…").`);
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
