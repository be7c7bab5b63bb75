import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { CommandError, messageOf } from "./errors.js";

/**
 * Writes text to standard output.
 *
 * @throws CommandError for a file that cannot take all of it, as on a full disk
 */
export function print(text: string): void {
  const { fd } = process.stdout;
  // Pipes and terminals are sockets. To a file, the stream of Node writes once: a disk that has room for a part of the
  // text takes that part, without an error.
  if (process.stdout instanceof Socket) {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(fd, text);
  } catch (error) {
    throw new CommandError(`standard output cannot be written, and is not complete: ${messageOf(error)}`);
  }
}
