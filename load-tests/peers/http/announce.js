/** Prints the address of a server to stdout, and ends the process on request. @module */
export function announce(port, scheme = "http") {
  process.stdout.write(`${scheme}://127.0.0.1:${port}\n`);
  process.once("SIGTERM", () => process.exit());
}
