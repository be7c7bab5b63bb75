/** A PostgreSQL of the run's own. @module */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DATABASE_CORE, onCore } from "../cores.js";

const run = promisify(execFile);

/** Debian keeps the server's programs out of the path. */
const DEBIAN = "/usr/lib/postgresql";

/** Larger than all connections of the servers of one round. */
const CONNECTIONS = 50;

/** A running database. */
export interface Database extends AsyncDisposable {
  readonly url: string;
}

/**
 * Gives the PostgreSQL of `DATABASE_URL`, else one of the run's own in a folder for temporary files.
 *
 * @returns `null` where neither is there.
 */
export async function openDatabase(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Database | null> {
  const url = environment["DATABASE_URL"] ?? "";
  if (/^postgres(ql)?:/.test(url)) return { url, [Symbol.asyncDispose]: async () => {} };
  const programs = await findPrograms();
  return programs === null ? null : startCluster(programs);
}

/** The folder of the programs with a slash, empty if they are in the path; `null` if they are missing. */
async function findPrograms(): Promise<string | null> {
  const versions = await readdir(DEBIAN).catch(() => []);
  for (const folder of ["", ...versions.map((version) => join(DEBIAN, version, "bin/"))]) {
    const has = (program: string) =>
      run(`${folder}${program}`, ["--version"]).then(
        () => true,
        () => false,
      );
    if ((await has("initdb")) && (await has("postgres"))) return folder;
  }
  return null;
}

/** Without syncs to the disk: the benchmark compares the work of the frameworks. */
async function startCluster(programs: string): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), "tsgi-bench-postgres-"));
  const user = await unprivilegedUser();
  if (user !== null) await chown(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder };
  const data = join(folder, "data");
  const initialize = ["--pgdata", data, "--auth=trust", "--username=bench", "--no-sync", "--encoding=UTF8"];
  await run(`${programs}initdb`, initialize, options);
  const parameters = ["listen_addresses=", `unix_socket_directories=${folder}`, `max_connections=${CONNECTIONS}`];
  const unsafe = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
  const switches = [...parameters, ...unsafe].flatMap((parameter) => ["-c", parameter]);
  const [command = "", ...args] = onCore(DATABASE_CORE, [`${programs}postgres`, "-D", data, ...switches]);
  const server = spawn(command, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(server, "exit");
  await untilReady(server.stderr);
  return {
    url: `postgresql://bench@localhost/postgres?host=${folder}`,
    async [Symbol.asyncDispose]() {
      server.kill("SIGINT"); // fast: open connections are cut
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(stderr: NodeJS.ReadableStream): Promise<void> {
  let output = "";
  await new Promise<void>((resolve, reject) => {
    stderr.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-2_000);
      if (output.includes("ready to accept connections")) resolve();
    });
    stderr.once("end", () => reject(new Error(`PostgreSQL does not start: ${output}`)));
  });
}

/** PostgreSQL refuses to run as root. Debian has a user for it; `nobody` is there elsewhere. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const idOf = async (flag: string, name: string): Promise<number> => Number((await run("id", [flag, name])).stdout);
  const name = await idOf("-u", "postgres").then(
    () => "postgres",
    () => "nobody",
  );
  return { uid: await idOf("-u", name), gid: await idOf("-g", name) };
}
