/** A port for Elysia's adapter for Node, which tells neither its port nor when it listens. @module */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { announce } from "./announce.js";

/** A port that was free a moment ago: the adapter does not tell which one it was given for 0. */
export const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/**
 * Prints the port after it is open: the callback of `listen` is called earlier. No `fetch`, whose client would count as
 * memory.
 */
export async function announceOn(port) {
  while (!(await isOpen(port))) await sleep(1);
  announce(port);
}

async function isOpen(port) {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
