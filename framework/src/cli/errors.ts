/** What a command says when it cannot do what it was asked. @module */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type CodeOf, codeOf, type FactsOf, formatMessage } from "../error-codes.js";
import type { ConfigurationError } from "../exceptions.js";
import { explanations } from "./errors-page.js";
import { COMMANDS } from "./messages.js";

/** Why a command of `tsgi` could not do what it was asked. */
type CommandCode = CodeOf<keyof typeof COMMANDS>;

/** Reports an error and ends the process with its exit code. */
export function fail(error: unknown): void {
  // Node keeps the place of a syntax error to itself, and shows it only when the error is uncaught.
  if (error instanceof SyntaxError && !error.stack?.startsWith("file:")) {
    setImmediate(() => {
      throw error;
    });
    return;
  }
  const code = error instanceof CommandError ? error.exitCode : EXIT.failed;
  // What the module started before it threw must not keep a command alive that has failed.
  process.stderr.write(`${showFailure(error)}\n`, () => process.exit(code));
}

/** The exit codes of the command. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** A mistake that the user can mend: shown as its message, without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    /** One of the command's own, or that of a mistake which the framework found in what the command was given. */
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

/** How many errors of a chain of causes are shown. */
const MAX_CAUSES = 8;

/** This package's compiled files. */
const OWN_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** An error as a command ends with it: its last line says where there is more to read. */
export function showFailure(error: unknown): string {
  const code = documentedCode(error);
  return code === null ? showError(error) : `${showError(error)}\nRead more: tsgi explain ${code}`;
}

/** An error, what caused it, and so on. Of causes that go in a circle, and of a very long chain, the first ones. */
function chainOf(error: unknown): unknown[] {
  const chain = [error];
  for (let last = error; chain.length < MAX_CAUSES && last instanceof Error && last.cause !== undefined;) {
    last = last.cause;
    chain.push(last);
  }
  return chain;
}

/** The code of an error, or of what caused it, that the page of errors explains. */
function documentedCode(error: unknown): string | null {
  return (
    chainOf(error)
      .map(ownCode)
      .find((code) => code !== null && explanations().has(code)) ?? null
  );
}

function ownCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // Of an error at the application's start the server knows what its message says.
  const [, started] = /\[(TSGI_\w+)\]$/.exec(error.message) ?? [];
  if (started !== undefined) return started;
  const { code } = error as { code?: unknown };
  // A file that may not be read has a system's code too, and not the one that a server has that may not listen.
  const isOurs = typeof code === "string" && (code.startsWith("TSGI_") || error.name === "ServerStartError");
  return isOurs ? code : null;
}

/** An error as the terminal shows it: without the frames that the user cannot mend. */
export function showError(error: unknown): string {
  const chain = chainOf(error);
  const last = chain.findIndex(saysItAll);
  return (last === -1 ? chain : chain.slice(0, last + 1)).map(showOne).join("\ncaused by ");
}

/** Whether the message of an error leaves nothing to say about its cause. */
function saysItAll(error: unknown): boolean {
  return error instanceof CommandError || (error instanceof Error && error.name === "TransformError");
}

function showOne(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TransformError") return showTransformError(error.message);
  const text = error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
  return text
    .split("\n")
    .filter((line) => !isForeignFrame(line))
    .join("\n");
}

function isForeignFrame(line: string): boolean {
  if (!/^\s+at /.test(line)) return false;
  // `(<anonymous>)` is the place of what is built in; `<anonymous> (file)` is the top level of a module that tsx loaded.
  return line.includes(OWN_FOLDER) || /node:|\(<anonymous>\)|[\\/]node_modules[\\/]/.test(line);
}

/** What esbuild, which is inside tsx, says of a file that it cannot read: one line of `file:line:column: ERROR: text` each. */
function showTransformError(message: string): string {
  const found = [...message.matchAll(/^(.+):(\d+):(\d+): ERROR: (.+)$/gm)];
  if (found.length === 0) return message;
  return found
    .map(([, file = "", line, column, text]) => {
      const shown = path.relative(process.cwd(), file);
      return `Syntax error: ${text}\n  at ${shown}:${line}:${Number(column) + 1}${codeFrame(file, Number(line), Number(column))}`;
    })
    .join("\n");
}

function codeFrame(file: string, line: number, column: number): string {
  try {
    const text = readFileSync(file, "utf8").split("\n")[line - 1] ?? "";
    return `\n\n  ${text}\n  ${" ".repeat(column)}^`;
  } catch {
    return "";
  }
}
