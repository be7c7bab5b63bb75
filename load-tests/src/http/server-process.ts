/** A server in a separate process. @module */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onCore, SERVER_CORE } from "../cores.js";

/** A running server. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Ends the process and waits until it has ended. */
  stop(): Promise<void>;
}

/** Options to start a server's process. */
export interface ServerOptions {
  /** The runtime with its arguments; this Node by default. */
  readonly command?: readonly string[];
  /** Variables in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The destination of stderr, to which some servers log each request. */
  readonly stderr?: "inherit" | "ignore";
}

/** The logger of tsgi's servers: no other server says where it listens. */
export const quietLogger = { debug() {}, info() {}, warn: console.warn, error: console.error };

/** Called in the server's process: prints its address to stdout, in one line. */
export function announce(url: string): void {
  process.stdout.write(`${url}\n`);
}

/**
 * Starts a server's script and waits for its `announce`.
 *
 * @throws Error if the process exits before it responds.
 */
export async function startServer(
  script: URL,
  { command: runtime = [process.execPath], environment = {}, stderr = "inherit" }: ServerOptions = {},
): Promise<ServerProcess> {
  const [command = "", ...args] = onCore(SERVER_CORE, [...runtime, fileURLToPath(script)]);
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", stderr],
    env: { ...process.env, NODE_ENV: "production", ...environment },
  });
  const ended = once(child, "exit");
  const url = await findURL(createInterface(child.stdout));
  if (url === null) throw new Error(`${fileURLToPath(script)} exited before it responded.`);
  child.stdout.resume(); // what else it says must not fill the pipe
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The first address that a process prints. */
async function findURL(lines: AsyncIterable<string>): Promise<string | null> {
  for await (const line of lines) {
    const url = /https?:\/\/[\w.:[\]]+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  return null;
}
