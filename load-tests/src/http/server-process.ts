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

/** Options to start a server's process. */
export interface ServerOptions {
  /** The runtime with its arguments; this Node by default. */
  readonly command?: readonly string[];
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The destination of stderr, to which some servers log each request. */
  readonly stderr?: "inherit" | "ignore";
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
  if (url === null) {
    throw new Error(`${fileURLToPath(script)} exited before it responded.`);
  }
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
