import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { isInstalled } from "./redis-server.js";

/** Debian keeps the server's programs out of the path. */
const DEBIAN = "/usr/lib/postgresql";
const folders = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => path.join(DEBIAN, version, "bin/")) : [];
const BIN = ["", ...folders].find((folder) => isInstalled(`${folder}initdb`) && isInstalled(`${folder}postgres`));

/** The reason why there is no PostgreSQL to stop and freeze, or `null`. */
export const WITHOUT_CLUSTER = BIN === undefined ? "PostgreSQL's server is not installed" : null;

/** A separate PostgreSQL, on a socket in a folder: it can be stopped without affecting other tests. */
export interface Cluster extends AsyncDisposable {
  url: string;
  start(): Promise<void>;
  /** Ends it at once, as `pg_ctl stop -m immediate` does. */
  stop(): Promise<void>;
  /** Freezes it with all its processes: it accepts connections without a reply. */
  freeze(): void;
  thaw(): void;
}

/** @param settings as in postgresql.conf */
export async function startCluster(settings: Readonly<Record<string, string | number>> = {}): Promise<Cluster> {
  const folder = mkdtempSync(path.join(tmpdir(), "postgres-"));
  const user = nobodyOfConsequence();
  if (user !== null) {
    chownSync(folder, user.uid, user.gid);
  }
  const data = path.join(folder, "data");
  const options = { ...user, stdio: "ignore", cwd: folder } as const;
  execFileSync(`${BIN}initdb`, ["--pgdata", data, "--auth=trust", "--username=test", "--no-sync"], options);
  const own = { listen_addresses: "", unix_socket_directories: folder, fsync: "off", ...settings };
  const parameters = Object.entries(own).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let server: ChildProcess;
  let isFrozen = false;

  const start = async (): Promise<void> => {
    server = spawn(`${BIN}postgres`, ["-D", data, ...parameters], { ...options, stdio: ["ignore", "ignore", "pipe"] });
    for await (const chunk of server.stderr ?? []) {
      if (String(chunk).includes("ready to accept connections")) {
        return;
      }
    }
    throw new Error("PostgreSQL does not start");
  };
  const thaw = (): void => {
    if (!isFrozen) {
      return;
    }
    isFrozen = false;
    const id = Number(server.pid);
    // The current ones: a process that the server had begun to start when it was stopped was not its child before.
    [...childrenOf(id), id].forEach((process) => signal(process, "SIGCONT"));
  };
  const stop = async (): Promise<void> => {
    thaw();
    if (server.exitCode === null) {
      const exited = once(server, "exit");
      server.kill("SIGQUIT");
      await exited;
    }
  };
  const freeze = (): void => {
    const id = Number(server.pid);
    isFrozen = true;
    signal(id, "SIGSTOP"); // first of all, so that it starts no more children
    childrenOf(id).forEach((process) => signal(process, "SIGSTOP"));
  };

  await start();
  return {
    url: `postgresql://test@localhost/postgres?host=${folder}`,
    start,
    stop,
    freeze,
    thaw,
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root; Debian has a user for it. */
function nobodyOfConsequence(): { uid: number; gid: number } | null {
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"]));
  return process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : null;
}

function childrenOf(id: number): number[] {
  const output = execFileSync("ps", ["-o", "pid=", "--ppid", String(id)], { encoding: "utf8" });
  return output.split("\n").filter(Boolean).map(Number);
}

/** A process that has ended meanwhile is as good as frozen. */
function signal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
      throw error;
    }
  }
}
