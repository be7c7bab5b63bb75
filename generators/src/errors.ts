/** What the command's exit status means. */
export const ExitCode = {
  /** The project is there and whole (or help, version, dry run were asked for). */
  done: 0,
  /** Something went wrong; the message says what, and what is left of the project. */
  failed: 1,
  /** The command line is wrong; nothing was looked at, nothing was written. */
  usage: 2,
  /** The person at the terminal stopped it: 128 + SIGINT, as shells count. */
  cancelled: 130,
} as const;

/** An error whose message is meant for the person at the terminal, without a stack. */
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

/** The command line cannot be understood. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";

  constructor(message: string) {
    super(message, ExitCode.usage);
  }
}

/** The code of a system error (`ENOENT`, `EACCES`, …), or `undefined` for anything else that was thrown. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string") {
    return error.code;
  }
  return undefined;
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  const hasMessage = typeof error === "object" && error !== null && "message" in error;
  return String(hasMessage ? error.message : error);
}
