/** JSON lines of a log, as `tsgi dev` shows them to people. @module */
import { Transform, type TransformCallback } from "node:stream";
import { styleText } from "node:util";
import { isForeignFrame, oneLine, ownFramesFirst } from "tsgi/internals";

/** Bytes of the longest line that is read as JSON. A longer one passes as it is, and is not held in memory. */
const MAX_LINE_BYTES = 256 * 1024;

const NEWLINE = 0x0a;
const BRACE = 0x7b;

type Style = Parameters<typeof styleText>[0];

/** The levels of pino: https://getpino.io/#/docs/api?id=loggerlevels-object */
const LEVELS: Readonly<Record<string, readonly [name: string, style: Style]>> = {
  10: ["TRACE", "dim"],
  20: ["DEBUG", "dim"],
  30: ["INFO", "green"],
  40: ["WARN", "yellow"],
  50: ["ERROR", "red"],
  60: ["FATAL", "red"],
};

const LEVEL_OF_NAME = new Map(Object.entries(LEVELS).map(([level, [name]]) => [name.toLowerCase(), level]));

/** Fields with a special format, and fields about the process. */
const LEFT_OUT: ReadonlySet<string> = new Set(["level", "time", "msg", "message", "pid", "hostname", "err", "v"]);

/** Error fields that its stack shows. */
const IN_STACK: ReadonlySet<string> = new Set(["type", "name", "message", "stack", "cause", "aggregateErrors"]);

const MAX_CAUSES = 8;

/**
 * Rewrites the lines of pino and of `accessLog`. All other bytes pass as they are: of a line that is not complete, those that
 * cannot begin an object pass at once.
 */
export class PrettyLog extends Transform {
  readonly #paint: Paint;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** In the middle of a line that passes as it is. */
  #isPassing = false;

  constructor({ hasColors }: { hasColors: boolean }) {
    super();
    this.#paint = hasColors ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const out: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end + 1), true, out);
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start), false, out);
    done(null, out.length === 0 ? undefined : Buffer.concat(out));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#release());
  }

  /** Takes a piece of a line. */
  #take(piece: Buffer, isEnd: boolean, out: Buffer[]): void {
    const isObject = this.#heldBytes > 0 || (!this.#isPassing && piece[0] === BRACE);
    if (!isObject || this.#heldBytes + piece.length > MAX_LINE_BYTES) {
      out.push(this.#release(), piece);
      this.#isPassing = !isEnd;
      return;
    }
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (!isEnd) return;
    const line = this.#release();
    const text = prettyLine(line.toString(), this.#paint);
    out.push(text === null ? line : Buffer.from(`${text}\n`));
  }

  #release(): Buffer {
    const held = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }
}

type Paint = (style: Style, text: string) => string;
type Fields = Readonly<Record<string, unknown>>;

/** A line of a log for people; `null` for any other line, and for one that is nested too deeply to be written again. */
function prettyLine(line: string, paint: Paint): string | null {
  try {
    const fields: unknown = JSON.parse(line);
    return isFields(fields) ? showLine(fields, paint) : null;
  } catch {
    return null;
  }
}

function showLine(fields: Fields, paint: Paint): string | null {
  const time = clockOf(fields["time"]);
  if (time === null) return null;
  const shown = showLogged(fields, paint) ?? showAccess(fields, paint);
  return shown === null ? null : `${paint("dim", time)} ${shown}`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The local time of the day, of milliseconds since 1970 or of ISO 8601. */
function clockOf(time: unknown): string | null {
  if (typeof time !== "number" && (typeof time !== "string" || !/^\d{4}-\d\d-\d\dT/.test(time))) return null;
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return null;
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

function showLogged(fields: Fields, paint: Paint): string | null {
  const { level, err, msg = fields["message"] } = fields;
  const known = typeof level === "string" ? LEVELS[LEVEL_OF_NAME.get(level.toLowerCase()) ?? ""] : undefined;
  const [name, style] = known ?? (typeof level === "number" ? (LEVELS[level] ?? [`LEVEL ${level}`, "cyan"]) : []);
  if (name === undefined || style === undefined) return null;
  const text = msg === undefined ? "" : ` ${show(msg)}`;
  const others = showFields(fields, LEFT_OUT, paint);
  return `${paint(style, name.padEnd(5))}${text}${others}${err === undefined ? "" : showError(err, paint)}`;
}

function showFields(fields: Fields, leftOut: ReadonlySet<string>, paint: Paint): string {
  const shown = Object.entries(fields).filter(([key]) => !leftOut.has(key));
  return shown.map(([key, value]) => paint("dim", ` ${oneLine(key)}=${show(value)}`)).join("");
}

/** Attack: a value with the controls of a terminal. */
function show(value: unknown): string {
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}

/** A line of `accessLog`. */
function showAccess(fields: Fields, paint: Paint): string | null {
  const { method, path, status, durationMs, route: _route, bytes: _bytes, ...others } = fields;
  if (typeof method !== "string" || typeof path !== "string" || typeof durationMs !== "number") return null;
  if (typeof status !== "number" && status !== null) return null;
  const code = paint(styleOf(status), String(status ?? "left"));
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  return `${oneLine(method)} ${oneLine(path)} ${code} ${durationMs} ms${showFields(rest, LEFT_OUT, paint)}`;
}

function styleOf(status: number | null): Style {
  if (status === null || status >= 500) return "red";
  if (status >= 400) return "yellow";
  return status >= 300 ? "cyan" : "green";
}

/** An error as pino's serializer writes it. */
function showError(err: unknown, paint: Paint, depth = 0): string {
  if (!isFields(err) || typeof err["stack"] !== "string") return `\n    ${show(err)}`;
  const { stack, cause, aggregateErrors } = err;
  const [head = "", ...lines] = ownFramesFirst(stack.split("\n")).map((line) =>
    isForeignFrame(line) ? paint("dim", oneLine(line)) : oneLine(line),
  );
  const next = (link: string, one: unknown) => `\n  ${link}${showError(one, paint, depth + 1)}`;
  const contained = Array.isArray(aggregateErrors) ? aggregateErrors.map((one) => next("contains", one)) : [];
  const inner = cause === undefined ? contained : [...contained, next("caused by", cause)];
  const linked = depth === MAX_CAUSES ? "" : inner.join("");
  return `\n    ${head}${showFields(err, IN_STACK, paint)}${lines.map((line) => `\n    ${line}`).join("")}${linked}`;
}
