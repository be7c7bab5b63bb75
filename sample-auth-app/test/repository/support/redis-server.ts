import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** The reason why there is no Redis to test with, or `null`. */
export const WITHOUT_REDIS = isInstalled("redis-server") ? null : "redis-server is not installed";

/** A separate Redis, on a socket in a folder: it can be stopped without affecting other tests. */
export interface RedisServer extends AsyncDisposable {
  url: string;
  /** Ends it, as a crash would. */
  stop(): Promise<void>;
  /** Starts it again, empty, at the same place. */
  start(): Promise<void>;
  /** Freezes it: it accepts connections without a reply. */
  freeze(): void;
  thaw(): void;
}

export async function startRedis(): Promise<RedisServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "redis-"));
  const url = path.join(folder, "redis.sock");
  const run = async () => {
    const child = spawn("redis-server", ["--port", "0", "--unixsocket", url, "--save", "", "--dir", folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const chunk of child.stdout) {
      if (String(chunk).includes("ready to accept connections")) {
        child.stdout.resume();
        break;
      }
    }
    return child;
  };
  let child = await run();
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
  };
  return {
    url,
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

/** Whether a program can be called. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
