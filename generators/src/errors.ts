/** The exit statuses of the command. */
export const ExitCode = {
  /** The project is complete, or help, version or dry run was printed. */
  done: 0,
  /** Failed. The message has the cause and the state of the project. */
  failed: 1,
  /** Invalid command line. No file was read or written. */
  usage: 2,
  /** Interrupted: 128 + SIGINT, as in shells. */
  cancelled: 130,
} as const;

/** An error that is printed without its stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";

  constructor(
    message: string,
    /** One of {@link ExitCode}. */
    readonly exitCode: number = ExitCode.failed,
  ) {
    super(message);
  }
}

/** An invalid command line. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";

  constructor(message: string) {
    super(message, ExitCode.usage);
  }
}

/** The code of a system error (`ENOENT`, `EACCES`, …), `undefined` for other errors. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string") {
    return error.code;
  }
  return undefined;
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  const hasMessage = typeof error === "object" && error !== null && "message" in error;
  return String(hasMessage ? error.message : error);
}
