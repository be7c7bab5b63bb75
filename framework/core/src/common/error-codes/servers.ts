/**
 * Starting a server.
 *
 * `serve` rejects with a `ServerStartError`, and `tsgi run` ends with status 1 and the same line. `error.code` is one of these,
 * or for what is rarer the system's own, with the message
 *
 * - `… cannot be opened: …`
 * @module
 */

export const SERVER_START = {
  /**
   * This user may not listen there.
   *
   * Ports below 1024 need privileges: choose another port, and let a proxy or the service manager have the low one.
   */
  "EACCES.socket": (what: string, way: string) => `${what} may not be made by this user: ${way}.`,
  "EACCES.port": (what: string, way: string) =>
    `${what} may not be opened by this user. Ports below 1024 need privileges: ${way}.`,
  /**
   * Another program listens on that port, or another process on that socket.
   *
   * `tsgi dev` names the program, and at a terminal asks whether it shall take the next free port. Often an earlier run that has not ended: `ss -ltnp` on Linux, `lsof -i :8000` on macOS name it. `--port 0` takes a free port.
   */
  "EADDRINUSE.port": (what: string, way: string) => `${what} is in use. Stop the program that has it, or ${way}.`,
  "EADDRINUSE.dev": (taken: string, way: string) => `${taken} Stop the program that has it, or ${way}.`,
  /**
   * The host is not an address of this machine.
   *
   * `127.0.0.1` is for this machine only, `0.0.0.0` for every network that it is in.
   */
  EADDRNOTAVAIL: (what: string) =>
    `${what}: this is not an address of this machine. Listen on 127.0.0.1, 0.0.0.0 or one that it has.`,
  /**
   * A start-up hook or `lifespan` threw; the port was never open.
   *
   * The message is its own, with its code in brackets behind it where it has one, and the log has its stack. What was started
   * before it is cleaned up.
   */
  ELIFESPAN: (reason: string) => `The application's start-up failed: ${reason}`,
  /**
   * uWebSockets.js cannot listen, and does not say why.
   *
   * `loop: "libuv"` (`tsgi run --loop libuv`) does say why.
   */
  ELISTEN: (port: number, host: string) =>
    `uWebSockets.js cannot listen on port ${port} of ${host}. It does not say why: serve with loop: "libuv", ` +
    "which does.",
  /** The host is a name that is not known. */
  ENOTFOUND: (what: string) =>
    `${what}: that host name is not known. Listen on 127.0.0.1, 0.0.0.0 or an address of this machine.`,
  /**
   * A worker did not start, or the program has no main module for workers to run.
   *
   * `workers` runs the program's main module in each worker. What a worker wrote stands above the line. A program of
   * `node --eval` or of a prompt has no main module: write it into a file.
   */
  "EWORKER.program":
    "Workers run the program's main module, and this program has none. Write it into a file, and run that.",
  "EWORKER.ended": (outcome: string) => `A worker ended before it listened (${outcome}). What it wrote stands above.`,
};
