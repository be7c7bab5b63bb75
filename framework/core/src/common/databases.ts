/**
 * Shared by packages for databases and Redis: a server that cannot be reached or does not reply, and the end of a transaction.
 *
 * @module
 */
import { nodeModule } from "./platform.js";

/** A server to which this process connects. */
export interface Server {
  /** As people call it: `PostgreSQL`. */
  name: string;
  /** A host, an address, or the path of a socket. */
  host: string;
  port: number;
  /** Starts it on this machine. */
  startCommand: string;
  /** Checks whether it responds. */
  pingCommand: string;
}

/** A server could not be reached, or refused the client. The message names it, the failure, and the command that fixes it. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";

  /** @param remedy - The fix, if the server itself has reported the problem. */
  constructor(server: Server, cause: unknown, remedy = remedyFor(server, describeError(cause).code)) {
    super(
      `${server.name}, host ${server.host}, port ${server.port}: ${describeError(cause).message.replace(/\.$/, "")}. ${remedy}`,
      {
        cause,
      },
    );
  }
}

/**
 * The code of an error, or an empty string, and its message. Of several addresses that were tried, the first one's says
 * most.
 */
export function describeError(error: unknown): { code: string; message: string } {
  const {
    code = "",
    message = error,
    errors,
  } = Object(error) as { code?: unknown; message?: unknown; errors?: unknown };
  return Array.isArray(errors) && errors.length > 0
    ? describeError(errors[0])
    : { code: String(code), message: String(message) };
}

/** Node's codes of sockets, such as ECONNREFUSED, EAI_AGAIN and codes of TLS, but not codes of mistakes in arguments. */
const SOCKET = /^E(?!RR_INVALID)[A-Z_]+$/;

/**
 * Classes of SQLSTATE (PostgreSQL, appendix A): connection exception, insufficient resources, operator intervention
 * (including the server's statement timeout), and the timeout of an idle transaction.
 */
const SQLSTATE = /^(?:08|53|57)...$|^25P03$/;

/** Messages of `pg` for a connection that is lost or not made; it has no code for them. */
const LOST =
  /^(?:Query read timeout|Connection terminated|timeout e(?:xceeded when trying to connect|xpired)|Client (?:has encountered a connection|was closed))/;

/** Tells if `pg` has lost or not made a connection, and its error has no code. */
export const isConnectionLost = (error: unknown): boolean => LOST.test(describeError(error).message);

/** Tells if an error of `pg` means that PostgreSQL is unavailable. */
export function isUnavailable(error: unknown): boolean {
  const { code } = describeError(error);
  return SOCKET.test(code) || SQLSTATE.test(code) || isConnectionLost(error);
}

/** Options of a client of `ioredis` that fails instead of waiting, and replaces a silent connection. */
export const REDIS_OPTIONS = {
  connectTimeout: 1_000,
  socketTimeout: 5_000,
  disconnectTimeout: 10, // a silent server does not reply to this in time either
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const;

/**
 * A script that Redis executes as a whole: each step is atomic, even if a process dies. Redis keeps the text until it
 * restarts, so that the digest is enough.
 */
export class RedisScript {
  readonly #text: string;
  #digest: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** @param send - Sends the command with the script, its keys and its values. */
  async run(send: (command: string, script: string) => Promise<unknown>): Promise<unknown> {
    this.#digest ??= nodeModule("node:crypto", "Redis").createHash("sha1").update(this.#text).digest("hex");
    try {
      return await send("EVALSHA", this.#digest);
    } catch (error) {
      if (!describeError(error).message.startsWith("NOSCRIPT")) throw error;
      return send("EVAL", this.#text);
    }
  }
}

/** Awaits a reply. @throws Error without one in time, after it has called `onLate`. */
export async function inTime<T>(reply: Promise<T>, timeoutMs: number, onLate?: () => void): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => {
      onLate?.();
      reject(new Error(`No reply within ${timeoutMs} ms.`));
    };
    // A process that was busy for that long may have a reply that it has not read yet.
    timer = setTimeout(() => (timer = setTimeout(giveUp)), timeoutMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A word of a command as a shell takes it. */
export function quoteWord(word: string): string {
  return /^[\w./:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The command that starts a PostgreSQL of this machine. On Windows, its service has the version in its name. */
export function postgresqlStart(platform: string = process.platform): string {
  if (platform === "win32") return "Start-Service postgresql*";
  return platform === "darwin" ? "brew services start postgresql" : "sudo systemctl start postgresql";
}

function remedyFor({ host, startCommand, pingCommand }: Server, code: string): string {
  const isHere = /^(?:localhost|127\..*|::1|\/.*)$/.test(host);
  if (isHere && (code === "ECONNREFUSED" || code === "ENOENT")) {
    return `The port is closed: start the server with ${startCommand}, or correct the URL`;
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    const lookup = process.platform === "linux" ? "getent hosts" : "nslookup";
    return `No such host is known: correct the URL, and see what is found with ${lookup} ${quoteWord(host)}`;
  }
  return `Check whether it responds with ${pingCommand}, or correct the URL`;
}

/** @param hasCommitted - `false` if the transaction was rolled back. */
type Callback = (hasCommitted: boolean) => void;

/** A property of the global object, so that two copies of this package meet. */
const OPEN: unique symbol = Symbol.for("tsgi.transactions");

const globals: typeof globalThis & { [OPEN]?: WeakMap<object, Callback[]> } = globalThis;

/**
 * Lets others observe a transaction.
 *
 * @param tx - Its client, as the application gets it.
 * @returns To call once it has ended.
 */
export function observable(tx: object): Callback {
  const callbacks: Callback[] = [];
  (globals[OPEN] ??= new WeakMap()).set(tx, callbacks);
  return (hasCommitted) => {
    globals[OPEN]?.delete(tx);
    for (const call of callbacks) call(hasCommitted);
  };
}

/** Calls a function once a transaction has ended. @returns `false` if it cannot be observed. */
export function whenEnded(tx: object, fn: Callback): boolean {
  const callbacks = globals[OPEN]?.get(tx);
  callbacks?.push(fn);
  return callbacks !== undefined;
}
