/** Errors of the commands, as the terminal shows them. @module */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Writable } from "node:stream";
import { type CodeOf, codeOf, errorChain, type FactsOf, formatMessage, isForeignFrame } from "tsgi/internals";
import type { ConfigurationError } from "tsgi";
import { explanations } from "./errors-page.js";
import { COMMANDS } from "./messages.js";

/** A code of the command's own. */
type CommandCode = CodeOf<keyof typeof COMMANDS>;

/**
 * Prints an error, and returns the status to exit with.
 *
 * @throws SyntaxError of a module: Node shows its place if it is not caught.
 */
export function report(error: unknown, output: Writable): number {
  if (error instanceof SyntaxError && !error.stack?.startsWith("file:")) throw error;
  output.write(`${showFailure(error)}\n`);
  return error instanceof CommandError ? error.exitCode : EXIT.failed;
}

/** The exit codes of the command. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** A mistake that the user can fix: shown as its message, without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    /** A code of the command, or of a `ConfigurationError` for the command's input. */
    readonly code: CommandCode | ConfigurationError["code"],
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** Makes a message of the command's own. */
export function commandMessage<Key extends keyof typeof COMMANDS>(
  key: Key,
  ...facts: FactsOf<(typeof COMMANDS)[Key]>
): string {
  return formatMessage(COMMANDS, key, facts);
}

/** Makes an error of the command's own. */
export function commandError<Key extends keyof typeof COMMANDS>(
  key: Key,
  ...facts: FactsOf<(typeof COMMANDS)[Key]>
): CommandError {
  return new CommandError(codeOf(key), commandMessage(key, ...facts));
}

/** The last error of a command: its last line names the section to read. */
export function showFailure(error: unknown): string {
  const code = documentedCode(error);
  return code === null ? showError(error) : `${showError(error)}\nRead more: tsgi explain ${code}`;
}

/** The code of an error, or of a cause, that the page of errors explains. */
function documentedCode(error: unknown): string | null {
  const codes = errorChain(error).flatMap(({ error: one }) => ownCode(one) ?? []);
  const known = codes.length === 0 ? null : explanations();
  return codes.find((code) => known?.has(code)) ?? null;
}

function ownCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // The server has only the text of the application's startup error.
  const [, started] = /\[(TSGI_\w+)\]$/.exec(error.message) ?? [];
  if (started !== undefined) return started;
  const { code } = error as { code?: unknown };
  // The code of a system call is explained only for `listen`: EACCES of a file is another mistake.
  const isOurs = typeof code === "string" && (code.startsWith("TSGI_") || error.name === "ServerStartError");
  return isOurs ? code : null;
}

/** An error as the terminal shows it: without the frames of other people's code. */
export function showError(error: unknown): string {
  if (isStartFailure(error)) return showStartFailure(error);
  const chain = errorChain(error);
  // The message of these covers their causes.
  const last = chain.findIndex(({ error: one }) => one instanceof CommandError || isTransformError(one));
  const shown = last === -1 ? chain : chain.slice(0, last + 1);
  return shown.map(({ error: one, link }) => (link === "" ? "" : `${link} `) + showOne(one)).join("\n");
}

/** Tells if the server reports that the application did not start. */
function isStartFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === "ServerStartError" && "code" in error && error.code === "ELIFESPAN";
}

/**
 * Its message contains the message of its cause, the error of the application. The frames come first, as Node shows a
 * place.
 */
function showStartFailure({ name, message, cause }: Error): string {
  if (!(cause instanceof Error)) return `${name}: ${message}`;
  const { stack = "", name: thrown } = cause;
  const frames =
    thrown === "SettingsError" ? [] : stack.split("\n").filter((line) => /^\s+at /.test(line) && !isForeignFrame(line));
  const inner = cause.cause === undefined ? [] : [`caused by ${showError(cause.cause)}`];
  return [...frames, `${name}: ${message}`, ...inner].join("\n");
}

function isTransformError(error: unknown): boolean {
  return error instanceof Error && error.name === "TransformError";
}

function showOne(error: unknown): string {
  // A mistake in the environment, which its message shows in full.
  if (error instanceof CommandError || (error instanceof Error && error.name === "SettingsError")) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (isTransformError(error)) return showTransformError(error.message);
  const text = error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
  const lines = text.split("\n").filter((line) => !isForeignFrame(line));
  return lines.join("\n");
}

/** A message of esbuild, which is inside tsx: a line `file:line:column: ERROR: text` for each error. */
function showTransformError(message: string): string {
  const found = Array.from(
    message.matchAll(/^(.+):(\d+):(\d+): ERROR: (.+)$/gm),
    ([, file = "", line, column, text]) => {
      const place = `${path.relative(process.cwd(), file)}:${line}:${Number(column) + 1}`;
      return `Syntax error: ${text}\n  at ${place}${codeFrame(file, Number(line), Number(column))}`;
    },
  );
  return found.length === 0 ? message : found.join("\n");
}

function codeFrame(file: string, line: number, column: number): string {
  try {
    const text = readFileSync(file, "utf8").split("\n")[line - 1] ?? "";
    return `\n\n  ${text}\n  ${" ".repeat(column)}^`;
  } catch {
    return "";
  }
}
