/** What a command says when it cannot do what it was asked. @module */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandCode } from "../error-codes.js";
import type { ConfigurationError } from "../exceptions.js";

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
  process.stderr.write(`${showError(error)}\n`, () => process.exit(code));
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

/** This package's compiled files. */
const OWN_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** An error as the terminal shows it: without the frames that the user cannot mend. */
export function showError(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TransformError") return showTransformError(error.message);
  const text = error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
  const lines = text.split("\n").filter((line) => !isForeignFrame(line));
  const cause = error.cause === undefined ? "" : `\ncaused by ${showError(error.cause)}`;
  return lines.join("\n") + cause;
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

/** The word of a list that was probably meant: at most two letters away. */
export function nearest(word: string, known: readonly string[]): string | null {
  const distances = known.map((candidate) => ({ candidate, distance: editDistance(word, candidate) }));
  const best = distances.toSorted((left, right) => left.distance - right.distance)[0];
  return best && best.distance <= 2 ? best.candidate : null;
}

function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return 3;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[right.length] as number;
}
