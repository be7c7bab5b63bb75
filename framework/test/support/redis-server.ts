import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A Redis of the test's own, on a socket in a folder. */
export interface RedisServer extends AsyncDisposable {
  /** The path of its socket. */
  readonly path: string;
  /** Ends it, as a crash would. */
  stop(): Promise<void>;
  /** Starts it again, empty, at the same place. */
  start(): Promise<void>;
  /** Freezes it: it accepts connections without a reply. */
  freeze(): void;
  thaw(): void;
}

/** Whether a Redis can be started here. */
export const HAS_REDIS = isInstalled("redis-server");

export async function startRedis(): Promise<RedisServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-redis-"));
  const socket = path.join(folder, "redis.sock");
  const run = async () => {
    const child = spawn("redis-server", ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const chunk of child.stdout) if (String(chunk).includes("ready to accept connections")) break;
    return child;
  };
  let child = await run();
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    path: socket,
    stop,
    start: async () => {
      child = await run();
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Tells by running it with `--version`. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
