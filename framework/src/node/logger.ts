/** Where the server writes what it has to say. @module */

/** A logger in pino's shape: each method takes the fields first, then one sentence. */
export interface ServerLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Writes readable lines to stderr; an `error` field with its stack and causes. `debug` lines are left out. */
export const stderrLogger: ServerLogger = {
  debug() {},
  info: (fields, message) => write("INFO", fields, message),
  warn: (fields, message) => write("WARN", fields, message),
  error: (fields, message) => write("ERROR", fields, message),
};

function write(level: string, fields: object, message: string): void {
  let line = `${level.padEnd(5)} ${message}`;
  for (const [name, value] of Object.entries(fields)) {
    if (name === "error") {
      line += `\n${describe(value)}`;
    }
  }
  process.stderr.write(`${line}\n`);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) {
    return `  thrown: ${String(error)}`;
  }
  const text = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? text : `${text}\n  caused by: ${describe(error.cause)}`;
}
