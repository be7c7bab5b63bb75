import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { nobodyOfConsequence } from "./postgres-cluster.js";
import { isInstalled } from "./redis-server.js";

/** Debian keeps the program out of the path of users. */
const PROGRAM = ["pgbouncer", "/usr/sbin/pgbouncer"].find((name) => isInstalled(name));

/** The reason why there is no PgBouncer, or `null`. */
export const WITHOUT_PGBOUNCER = PROGRAM === undefined ? "PgBouncer is not installed" : null;

/**
 * A PgBouncer in transaction mode: each transaction has any of its connections to a cluster.
 *
 * @param settings as in pgbouncer.ini
 */
export async function startPgBouncer(
  clusterURL: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<{ url: string } & AsyncDisposable> {
  const folder = mkdtempSync(path.join(tmpdir(), "pgbouncer-"));
  const user = nobodyOfConsequence();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const own = {
    listen_addr: "",
    listen_port: 6432,
    unix_socket_dir: folder,
    auth_type: "trust",
    auth_file: path.join(folder, "users.txt"),
    pool_mode: "transaction",
    ...settings,
  };
  const host = new URL(clusterURL).searchParams.get("host");
  const lines = Object.entries(own).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(own.auth_file, '"test" ""\n');
  writeFileSync(
    path.join(folder, "pgbouncer.ini"),
    ["[databases]", `* = host=${host}`, "[pgbouncer]", ...lines, ""].join("\n"),
  );
  const server = spawn(String(PROGRAM), [path.join(folder, "pgbouncer.ini")], {
    ...user,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(server, "exit");
  let log = "";
  server.stderr.on("data", (chunk) => (log += String(chunk)));
  while (!log.includes("process up")) {
    const [status] = await Promise.race([once(server.stderr, "data"), exited]);
    if (typeof status === "number") throw new Error(`PgBouncer does not start: ${log}`);
  }
  return {
    url: `postgresql://test@localhost:6432/postgres?host=${folder}`,
    [Symbol.asyncDispose]: async () => {
      server.kill("SIGINT");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
