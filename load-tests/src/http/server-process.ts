/** A server in a process of its own. @module */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onCore, SERVER_CORE } from "../cores.js";

/** A server that answers. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Ends the process and waits until it has ended. */
  stop(): Promise<void>;
}

/** Called in the server's process: says on stdout, in one line, where it answers. */
export function announce(url: string): void {
  process.stdout.write(`${url}\n`);
}

/**
 * Starts a server's script and waits for its `announce`.
 *
 * @throws Error when the process ends before it answers.
 */
export async function startServer(script: URL): Promise<ServerProcess> {
  const [command = "", ...args] = onCore(SERVER_CORE, [process.execPath, fileURLToPath(script)]);
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const ended = once(child, "exit");
  const first = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  if (first.done === true) {
    throw new Error(`${fileURLToPath(script)} ended before it answered.`);
  }
  return {
    url: first.value,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
