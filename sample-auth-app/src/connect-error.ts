/** A server to which this process connects. */
export interface Server {
  /** As people call it: `PostgreSQL`. */
  name: string;
  /** A host, an address, or the path of a socket. */
  host: string;
  port: number;
  /** The variable of the environment that names it. */
  variable: string;
  /** Starts it on this machine. */
  startCommand: string;
  /** Asks whether it answers. */
  pingCommand: string;
}

/** A server could not be reached, or let nobody in. The message says which, what failed, and the command that mends it. */
export class ConnectError extends Error {
  override name = "ConnectError";

  /** @param remedy what to do, where the server itself has said what is wrong */
  constructor(server: Server, cause: unknown, remedy = remedyFor(server, describe(cause).code)) {
    super(`${server.name}, host ${server.host}, port ${server.port}: ${describe(cause).message}. ${remedy}`, { cause });
  }
}

/** The code of an error, or nothing, and its message. Of several addresses that were tried, the first one's says most. */
export function describe(error: unknown): { code: string; message: string } {
  const {
    code = "",
    message = error,
    errors,
  } = Object(error) as { code?: unknown; message?: unknown; errors?: unknown };
  return Array.isArray(errors) && errors.length > 0
    ? describe(errors[0])
    : { code: String(code), message: String(message) };
}

/** A word of a command as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w./:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function remedyFor({ host, variable, startCommand, pingCommand }: Server, code: string): string {
  const isHere = /^(?:localhost|127\..*|::1|\/.*)$/.test(host);
  if (isHere && (code === "ECONNREFUSED" || code === "ENOENT")) {
    return `Nothing listens there: start it with ${startCommand}, or correct ${variable}`;
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `No such host is known: correct ${variable}, and see what is found with getent hosts ${quoted(host)}`;
  }
  return `See whether it answers with ${pingCommand}, or correct ${variable}`;
}
