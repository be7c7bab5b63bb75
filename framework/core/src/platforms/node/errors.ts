/** The errors that the server throws at its caller and at the application. @module */
import { codeOf, type FactsOf, formatMessage, type ServerStartCode } from "../../common/error-codes.js";
import { SERVER_START } from "../../common/error-codes/servers.js";
import { isForeignFrame, oneLine } from "../../common/logger.js";

/**
 * The server could not start: the application's startup failed, or the address cannot be listened on. The port is not
 * open, and what the application had started is shut down again.
 */
export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
  /**
   * Why: one of the codes that the documentation's page of errors explains, as `tsgi explain CODE` does, or else the
   * system's own, such as `"EMFILE"`.
   */
  readonly code: ServerStartCode | (string & {});

  constructor(code: ServerStartCode | (string & {}), message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    // Node shows the source of the first frame of an uncaught error: a minified line of this package.
    this.stack =
      this.stack
        ?.split("\n")
        .filter((line) => !isForeignFrame(line))
        .join("\n") ?? message;
  }
}

/** Makes an error of the catalogue, with the facts of this case. */
export function serverStartError<Key extends keyof typeof SERVER_START>(
  key: Key,
  facts: FactsOf<(typeof SERVER_START)[Key]>,
  options?: ErrorOptions,
): ServerStartError {
  return new ServerStartError(codeOf(key), formatMessage(SERVER_START, key, facts), options);
}

/** The server did not stop within `shutdownTimeoutMs`. Its sockets are still destroyed. */
export class ShutdownTimeoutError extends Error {
  override readonly name = "ShutdownTimeoutError";
  /** The work that still ran at the limit, for example `"GET /slow"` or `"lifespan.shutdown"`. */
  readonly running: readonly string[];

  constructor(running: readonly string[], afterMs: number) {
    super(
      `Shutdown did not finish within ${afterMs} ms; still running: ${running.map(oneLine).join(", ") || "unknown work"}.`,
    );
    this.running = running;
  }
}
