/** A port for Elysia's adapter for Node, which tells neither its port nor when it listens. @module */
import { createServer } from "node:net";
import { announce } from "./announce.js";

/** A port that was free a moment ago: the adapter does not tell which one it was given for 0. */
export const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** Announces once `/health` answers: the callback of `listen` comes before. */
export async function announceOn(port) {
  for (;;) {
    const answers = await fetch(`http://127.0.0.1:${port}/health`).then(
      () => true,
      () => false,
    );
    if (answers) break;
  }
  announce(port);
}
