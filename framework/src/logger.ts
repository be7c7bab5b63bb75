/** Where the framework says what it has to say. @module */

/** Called with fields and a message, as pino's methods are, so that a pino logger fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A line of a log must stay one line, whoever wrote the text in it: CR and LF could forge a second. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]/g, (char) =>
    char === "\n" ? "\\n" : char === "\r" ? "\\r" : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function show(value: unknown): string {
  return typeof value === "string" ? oneLine(value) : oneLine(JSON.stringify(value) ?? String(value));
}

/** An error's stack is many lines by nature: its message is escaped, its frames are indented. */
function showError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return `\n    ${show(error)}`;
  const stack = error.stack ?? "";
  const frames = stack
    .slice(stack.indexOf("\n    at ") + 1)
    .split("\n")
    .filter((line) => line.startsWith("    at "));
  const cause = error.cause === undefined || depth > 4 ? "" : `\n    caused by${showError(error.cause, depth + 1)}`;
  return `\n    ${oneLine(`${error.name}: ${error.message}`)}${frames.map((line) => `\n  ${line}`).join("")}${cause}`;
}

function write(level: string, fields: object, message: string): void {
  const { err, ...others } = fields as { err?: unknown };
  const shown = Object.entries(others).map(([key, value]) => ` ${key}=${show(value)}`);
  const stack = err === undefined ? "" : showError(err);
  console.error(`${new Date().toISOString()} ${level} ${oneLine(message)}${shown.join("")}${stack}`);
}

/** Readable lines on the standard error output. Silent below `info`. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: (fields, message) => write("INFO", fields, message),
  warn: (fields, message) => write("WARN", fields, message),
  error: (fields, message) => write("ERROR", fields, message),
};
