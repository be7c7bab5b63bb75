/** Says on stdout where a server answers, and ends the process when it is told to. @module */
export function announce(port, scheme = "http") {
  process.stdout.write(`${scheme}://127.0.0.1:${port}\n`);
  process.once("SIGTERM", () => process.exit());
}
