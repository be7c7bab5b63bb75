import type { Logger } from "tsgi";

/** A logger whose lines all carry some fields besides. */
export interface Log extends Logger {
  child(fields: object): Log;
}

/** Writes one JSON object a line, which keeps CR and LF of what clients send inside their strings. */
export function createLog(
  write: (line: string) => void = (line) => process.stderr.write(line),
  common: object = {},
): Log {
  const at = (level: string) => (fields: object, message: string) => {
    const entry = { time: new Date().toISOString(), level, message, ...common, ...fields };
    write(`${JSON.stringify(entry, (_, value: unknown) => (value instanceof Error ? describe(value) : value))}\n`);
  };
  return {
    debug: () => {},
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => createLog(write, { ...common, ...fields }),
  };
}

/** An error's own fields are not enumerable: without this it would be logged as `{}`. */
function describe(error: Error): object {
  const { name, message, stack, cause } = error;
  return { name, message, stack, cause };
}
