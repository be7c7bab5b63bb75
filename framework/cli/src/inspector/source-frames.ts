/** The places of an error in the application's own source, with the lines around each. @module */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isForeignFrame } from "tsgi/internals";

/** A frame of a stack, in a file of the application. */
export interface SourceFrame {
  /** The function; empty for code at the top level. */
  readonly name: string;
  /** Relative to the working directory. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** The lines around it, each with its number: `> 12 | throw error;`. Empty if the file cannot be read. */
  readonly source: readonly string[];
}

/** `at name (file:///app.ts:1:2)`, and `at /app.ts:1:2` without a name. */
const FRAME = /^\s+at (?:(?:async )?(.*?) \()?((?:file:\/\/)?[^()]+):(\d+):\d+\)?$/;

/**
 * Files that can throw. Attack: a message that was changed later is not found in the stack, so lines of the first message
 * can look like frames. They can name source, but no file with secrets.
 */
const SOURCE = /\.[cm]?[jt]sx?$/;

/** Frames that are kept of an error. */
const MAX_FRAMES = 5;

/** Lines before and after the one of the frame. */
const AROUND = 3;

/** Characters of a line that are kept: a bundle has all of its code on one. */
const MAX_LENGTH = 200;

/** Reads them when the error occurs, because the file may have changed when the page is opened. */
export function sourceFramesOf(error: unknown, folder: string = process.cwd()): SourceFrame[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  const { message, stack } = error;
  // Attack: a message made from a request may contain lines that look like frames, such as one of `.env`.
  const start = stack.indexOf(message);
  const frames: SourceFrame[] = [];
  for (const text of stack.slice(start < 0 ? 0 : start + message.length).split("\n")) {
    const frame = isForeignFrame(text) ? null : toFrame(text, folder);
    if (frame !== null) frames.push(frame);
    if (frames.length === MAX_FRAMES) break;
  }
  return frames;
}

function toFrame(text: string, folder: string): SourceFrame | null {
  const [, name = "", place, at] = FRAME.exec(text) ?? [];
  const absolute = place === undefined ? null : pathOf(place);
  if (absolute === null || !SOURCE.test(absolute)) return null;
  const file = path.relative(folder, absolute);
  if (file.startsWith("..") || path.isAbsolute(file)) return null;
  const line = Number(at);
  return { name: name === "<anonymous>" ? "" : name, file, line, source: readAround(absolute, line) };
}

/** `null` for a URL of another machine, or with an encoded slash. */
function pathOf(place: string): string | null {
  try {
    return place.startsWith("file:") ? fileURLToPath(place) : place;
  } catch {
    return null;
  }
}

function readAround(file: string, line: number): string[] {
  let lines: string[];
  try {
    lines = readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
  const first = Math.max(1, line - AROUND);
  return lines.slice(first - 1, line + AROUND).map((text, index) => {
    const number = first + index;
    return `${number === line ? ">" : " "} ${number} | ${text}`.slice(0, MAX_LENGTH);
  });
}
