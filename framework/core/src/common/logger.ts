/** The log of the framework. @module */

/** Called with fields and a message, as pino's methods are, so that a pino logger fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * Escapes text, so that a line of a log stays one line with visible content. Attack: CR, LF, U+0085 and U+2028
 * forge a second line, C0 and C1 controls (U+009B is ESC [) drive the terminal, bidirectional marks turn the text round.
 */
export function oneLine(text: string): string {
  return text.replaceAll(CONTROLS, (char) => (char === "\n" ? "\\n" : char === "\r" ? "\\r" : escape(char)));
}

/**
 * The same for JSON text: JSON leaves some of these characters unescaped, but only in strings, where JSON's own escape
 * applies.
 */
export function escapeControls(json: string): string {
  return json.replaceAll(CONTROLS, escape);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A value as text; a log line can contain any value, including a cycle, a `bigint`, or a value without a text form. */
function show(value: unknown): string {
  if (typeof value === "string") return oneLine(value);
  try {
    return oneLine(JSON.stringify(value) ?? String(value));
  } catch {
    return oneLine(Object.prototype.toString.call(value));
  }
}

/**
 * The folder of the framework's packages outside of `node_modules`, as in a workspace. Empty in a bundle, which does
 * not distinguish its code from the application's.
 */
const OWN_FOLDER = /^file:\/\/(.*\/)core\/(?:dist\/shared\/[^/]+|(?:build|src)\/common\/logger\.[jt]s)$/.exec(
  import.meta.url,
)?.[1];

/** Tells if a line of a stack is a frame of the runtime, of a package, or of this one. */
export function isForeignFrame(line: string): boolean {
  if (!/^\s+at /.test(line)) return false;
  const [, place] = OWN_FOLDER === undefined ? [] : line.split(OWN_FOLDER);
  const isOwn = place !== undefined && /^[\w-]+\/(?:dist|build|src)\//.test(place);
  // `(<anonymous>)` is the place of built-in code; `<anonymous> (file)` is the top level of a module that tsx loaded.
  return isOwn || /node:|\(<anonymous>\)|[\\/]node_modules[\\/]/.test(line);
}

/** The lines of a stack. Of consecutive frames, those of the user's code are listed first. */
export function ownFramesFirst(lines: readonly string[]): string[] {
  const ordered: string[] = [];
  const foreign: string[] = [];
  for (const line of lines) {
    if (isForeignFrame(line)) foreign.push(line);
    else {
      // Any other line begins the next error: "caused by: …".
      if (!/^\s+at /.test(line)) ordered.push(...foreign.splice(0));
      ordered.push(line);
    }
  }
  return [...ordered, ...foreign];
}

/** Errors of a chain that are shown: an error may cause itself, or contain hundreds. */
const MAX_ERRORS = 8;

/** An error of a chain, and the words that connect it to one before it. */
export interface LinkedError {
  readonly error: unknown;
  readonly link: "" | "contains" | "caused by";
}

/**
 * The errors that an error contains, as an `AggregateError` does: Node's error of a refused connection to a name with two
 * addresses has the hosts and the reasons only there. The entries of a `RequestValidationError` are not errors.
 */
export function containedErrors(error: Error): readonly Error[] {
  const { errors } = error as { errors?: unknown };
  return Array.isArray(errors) ? errors.filter((one) => one instanceof Error) : [];
}

/** An error, the errors that it contains, its cause, and so on: the first ones. */
export function errorChain(error: unknown): LinkedError[] {
  const chain: LinkedError[] = [];
  const follow = (one: unknown, link: LinkedError["link"]): void => {
    if (chain.push({ error: one, link }) >= MAX_ERRORS || !(one instanceof Error)) return;
    for (const contained of containedErrors(one)) if (chain.length < MAX_ERRORS) follow(contained, "contains");
    if (one.cause !== undefined && chain.length < MAX_ERRORS) follow(one.cause, "caused by");
  };
  follow(error, "");
  return chain;
}

function showErrors(first: unknown): string {
  return errorChain(first)
    .map(({ error, link }) => (link === "" ? "" : `\n    ${link}`) + showError(error))
    .join("");
}

/** Attack: a message with line breaks would forge lines or frames. It is escaped, and the frames are indented. */
function showError(error: unknown): string {
  if (!(error instanceof Error)) return `\n    ${show(error)}`;
  const { name, message, stack = "" } = error;
  const head = stack.indexOf(message);
  const frames = stack
    .slice(head < 0 ? 0 : head + message.length)
    .split("\n")
    .filter((line) => line.startsWith("    at "));
  // A bundle for the web is one file, which does not tell one frame from another.
  const ordered = process.env["TSGI_PLATFORM"] === "web" ? frames : ownFramesFirst(frames);
  const shown = ordered.map((line) => `\n  ${oneLine(line)}`);
  const code = errorCodeOf(error);
  return `\n    ${oneLine(`${name}${code === null ? "" : ` [${code}]`}: ${message}`)}${shown.join("")}`;
}

/**
 * The code of an error that has one in addition to its message, as errors of Node and of this framework do; else
 * `null`.
 */
export function errorCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const { code, message } = error;
  return typeof code === "string" && code !== "" && !message.includes(code) ? code : null;
}

/** The message of an error, with the messages of the errors that it contains. */
export function errorMessage(error: Error): string {
  const { message } = error;
  const contained = containedErrors(error)
    .slice(0, MAX_ERRORS)
    .map((one) => one.message)
    .join("; ");
  if (contained === "") return message;
  return message === "" ? contained : `${message} (${contained})`;
}

/** An error in one line, for a message. */
export function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${errorMessage(error)}` : show(error);
}

/** Marks an output that has a listener, for other copies of this module too. */
const KEPT: unique symbol = Symbol.for("tsgi.keptOutput");

type Output = Pick<NodeJS.WriteStream, "on"> & { [KEPT]?: true };

/**
 * Keeps the process running if the reader of its output ends before it, as `head` or a log collector does: without a
 * listener, Node ends the process with EPIPE. Lines without a reader are lost, which the other output reports once.
 */
export function keepOutputs(): void {
  if (process.env["TSGI_PLATFORM"] === "web") return;
  const stdout: Output | undefined = globalThis.process?.stdout;
  const stderr: Output | undefined = globalThis.process?.stderr;
  if (!stdout?.on || !stderr?.on || stdout[KEPT]) return;
  stdout[KEPT] = true;
  let isReported = false;
  stdout.on("error", (err: unknown) => {
    if (!isReported) consoleLogger.warn({ err }, "The standard output cannot be written: its lines are lost.");
    isReported = true;
  });
  stderr.on("error", () => {});
}

/** Writes a line to the standard output. */
export function writeLine(line: string): void {
  keepOutputs();
  if (globalThis.process?.stdout) process.stdout.write(`${line}\n`);
  else console.log(line); // a web runtime has no `process`
}

function write(level: string, fields: object & { err?: unknown }, message: string): void {
  keepOutputs();
  const { err, ...others } = fields;
  const shown = Object.entries(others).map(([key, value]) => ` ${oneLine(key)}=${show(value)}`);
  const stack = err === undefined ? "" : showErrors(err);
  console.error(`${new Date().toISOString()} ${level} ${oneLine(message)}${shown.join("")}${stack}`);
}

const loggers = new WeakMap<object, Logger>();

/** Keeps the logger of an App, for responses that are sent in its name. */
export function keepLogger(app: object, logger: Logger): void {
  loggers.set(app, logger);
}

/** The logger of a scope's `app`; the standard error output if the app has no logger. */
export function loggerOf(app: unknown): Logger {
  const isKey = typeof app === "function" || (typeof app === "object" && app !== null);
  return (isKey && loggers.get(app)) || consoleLogger;
}

const warnings = new Set<string>();

/** Warns in the log of a scope's `app`, one time in this process. */
export function warnOnce(app: unknown, message: string): void {
  if (warnings.has(message)) return;
  warnings.add(message);
  loggerOf(app).warn({}, message);
}

/** Readable lines on the standard error output. Silent below `info`. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: (fields, message) => write("INFO", fields, message),
  warn: (fields, message) => write("WARN", fields, message),
  error: (fields, message) => write("ERROR", fields, message),
};

type Level = keyof Logger;

/** The guard of each logger, so that requests that make one again do not repeat the logger's error. */
const guards = new WeakMap<Logger, Logger>([[consoleLogger, consoleLogger]]);

/**
 * Returns a logger that never throws: a line that the given one does not take goes to the standard error output, with
 * the first error of that logger. A logger of the application that throws or rejects would otherwise end the process,
 * because the framework logs in places without a caller that catches errors.
 */
export function guardLogger(logger: Logger): Logger {
  const known = guards.get(logger);
  if (known !== undefined) return known;
  let isReported = false;
  const fail = (toConsole: () => void, err: unknown): void => {
    toConsole();
    if (isReported) return;
    isReported = true;
    consoleLogger.error({ err }, "The logger failed, and its lines are written here. Its error is not logged again.");
  };
  const guard =
    (level: Level) =>
    (fields: object, message: string): void => {
      const toConsole = () => consoleLogger[level](fields, message);
      try {
        // By name at each call: pino replaces its methods when its level changes.
        const written: unknown = logger[level](fields, message);
        if (written instanceof Promise) written.catch((error: unknown) => fail(toConsole, error));
      } catch (error) {
        fail(toConsole, error);
      }
    };
  const guarded = { debug: guard("debug"), info: guard("info"), warn: guard("warn"), error: guard("error") };
  guards.set(logger, guarded).set(guarded, guarded);
  return guarded;
}

/** The object that identifies a request: every copy of its scope, in the App and in the server, has the same `headers`. */
export function requestOf(scope: { readonly headers?: unknown }): object {
  return typeof scope.headers === "object" && scope.headers !== null ? scope.headers : scope;
}

/** For each error the requests for which it is in the log already. */
const logged = new WeakMap<object, WeakSet<object>>();

/**
 * Writes an error to the log once for each request in which it is thrown: it is logged at the first catch, and rethrown
 * to the server. One error object may be thrown by many requests.
 *
 * @param line - With the request's `scope`.
 */
export function logOnce(
  logger: Logger,
  error: unknown,
  line: { scope: { readonly headers?: unknown }; fields: object; message: string },
): void {
  const { scope, fields, message } = line;
  if (typeof error === "object" && error !== null) {
    const request = requestOf(scope);
    const requests = logged.get(error) ?? new WeakSet();
    if (requests.has(request)) return;
    logged.set(error, requests.add(request));
  }
  logger.error({ err: error, ...fields }, message);
}
