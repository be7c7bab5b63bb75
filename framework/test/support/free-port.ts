/** Ports for programs that must be told one. @module */
import { once } from "node:events";
import { createServer } from "node:net";

/** Ports that Linux does not give to a program that listens on port 0: those begin at 32768. */
const [FIRST, COUNT] = [20_000, 10_000];

/** Depends on the process, so that two test files seldom try the same port. */
let tried = process.pid * 100;

/** A port of 127.0.0.1 that no program listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (tried++ % COUNT);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      return port;
    } catch {
      // the next one
    } finally {
      server.close();
    }
  }
}
