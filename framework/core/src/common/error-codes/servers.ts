/**
 * Starting a server.
 *
 * If a server cannot start, `serve` rejects with a `ServerStartError`, and `tsgi run` prints the same message and exits with
 * status 1. `error.code` is one of these codes. For rare errors, it is the code of the system, with the message
 *
 * - `… cannot be opened: …`
 * @module
 */

export const SERVER_START = {
  /**
   * The user of this process has no permission to listen on the address, or the folder of the socket does not exist.
   *
   * Ports below 1024 need privileges. Choose another port, and let a proxy or the service manager listen on the low
   * port. For a socket, create its folder, and give this user the permission to write to it. Node reports both problems
   * with this code. On Windows, a socket is a named pipe, whose path begins with `\\\\.\\pipe\\`.
   */
  "EACCES.socket": (what: string, way: string) =>
    `${what} cannot be created: its folder does not exist, or this user has no permission to write to it. ` +
    `Create the folder, or ${way}.`,
  "EACCES.pipe": (what: string) =>
    `${what} cannot be created. Windows has named pipes instead of Unix sockets: write a path such as \\\\.\\pipe\\my-app.`,
  "EACCES.port": (what: string, way: string) =>
    `${what} may not be opened by this user. Ports below 1024 need privileges: ${way}.`,
  /**
   * Another program is listening on the port, or another process on the socket.
   *
   * `tsgi dev` shows the program. In a terminal, it also offers to use the next free port. Often the program is an
   * earlier run that has not ended: to find it, run `ss -ltnp` on Linux, `lsof -i :8000` on macOS or `netstat -ano` on
   * Windows. If you use `--port 0`, the system selects a free port.
   */
  "EADDRINUSE.port": (what: string, way: string) => `${what} is in use. Stop the program that has it, or ${way}.`,
  "EADDRINUSE.dev": (taken: string, way: string) => `${taken} Stop the program that has it, or ${way}.`,
  /**
   * The host is not an address of this machine.
   *
   * Use `127.0.0.1` to accept connections from this machine only, or `0.0.0.0` to accept connections from all its
   * networks.
   */
  EADDRNOTAVAIL: (what: string) =>
    `${what}: this is not an address of this machine. Listen on 127.0.0.1, 0.0.0.0 or one that it has.`,
  /**
   * A startup hook or `lifespan` threw an error, so the server did not open the port.
   *
   * The message is the message of that error. If the error has a code, the code follows in brackets. The log contains
   * the stack. Hooks and dependencies that were already started are cleaned up.
   */
  ELIFESPAN: (reason: string) => `The application's startup failed: ${reason}`,
  /**
   * uWebSockets.js cannot listen, and does not report the reason.
   *
   * If you use `loop: "libuv"` (`tsgi run --loop libuv`), the message contains the reason.
   */
  ELISTEN: (port: number, host: string) =>
    `uWebSockets.js cannot listen on port ${port} of ${host}. It does not say why: serve with loop: "libuv", ` +
    "which does.",
  /** The host is an unknown name. */
  ENOTFOUND: (what: string) =>
    `${what}: that host name is not known. Listen on 127.0.0.1, 0.0.0.0 or an address of this machine.`,
  /**
   * A worker did not start, or the program has no main module that workers can run.
   *
   * If you set `workers`, each worker runs the main module of the program. The output of the worker is above the
   * message. A program started with `node --eval` or in a REPL has no main module, so write it into a file.
   */
  "EWORKER.program":
    "Workers run the main module of the program, but this program has no main module. Move the code to a file and run it.",
  "EWORKER.ended": (outcome: string) => `A worker exited before it was listening (${outcome}). See its output above.`,
};
