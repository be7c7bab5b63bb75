/** A server in a process of its own. @module */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A server that answers. */
export interface ServerProcess {
  readonly url: string;
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
  const child = spawn(process.execPath, [fileURLToPath(script)], {
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
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
