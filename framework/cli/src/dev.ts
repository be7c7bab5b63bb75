/** `tsgi dev`: serves an application and restarts it when a file changes. @module */
import { once } from "node:events";
import { realpathSync } from "node:fs";
import path from "node:path";
import { watch } from "chokidar";
import { choosePort } from "./choose-port.js";
import type { EnvFiles } from "./env-file.js";
import { findModule } from "./find-module.js";
import type { ServedFlags } from "./dev-process.js";
import { Supervisor } from "./supervisor.js";

/** The flags of `tsgi dev`. */
export interface DevFlags extends Pick<
  ServedFlags,
  "host" | "port" | "loop" | "trustedProxies" | "clientAddressHeader" | "accessLog"
> {
  /** Folders to watch in addition to the working directory. */
  watch: string[];
}

/** Files that change the behavior of an application. */
const WATCHED = /\.([cm]?[jt]sx?|json|html|css|env|sql|prisma)$|(^|[\\/])\.env(\.|$)/;

/** Folders that hold no source: what tools write there would start the application again and again. */
const IGNORED = /(^|[\\/])(node_modules|coverage|\.(?!\.?[\\/]|env)[^\\/]+)([\\/]|$)/;

/** Files of variables and of configuration, which count for the modules in their folder and below. */
const CONFIGURATION = /^(?:\.env(?:\..+)?|(?:package(?:-lock)?|npm-shrinkwrap|[jt]sconfig.*)\.json)$/;

/** Tells if a change of a file changes the application, which has loaded these files. */
function isConcerned(name: string, loaded: ReadonlySet<string> | null): boolean {
  if (loaded === null || loaded.has(name) || loaded.has(realPath(name))) return true;
  const folder = path.dirname(name);
  if (!CONFIGURATION.test(path.basename(name))) return false;
  return folder === process.cwd() || [...loaded].some((file) => file.startsWith(folder + path.sep));
}

/** Node reports real paths. The file itself may be gone. */
function realPath(name: string): string {
  try {
    return path.join(realpathSync(path.dirname(name)), path.basename(name));
  } catch {
    return name;
  }
}

/**
 * Serves until SIGINT or SIGTERM. @throws ServerStartError for a port in use, unless the person at the terminal agrees
 * to another.
 */
export async function dev(module: string | undefined, flags: DevFlags, envFiles: EnvFiles): Promise<void> {
  const file = findModule(module);
  const { watch: further, ...rest } = flags;
  const served = { ...rest, port: await choosePort(flags) };
  const folders = [process.cwd(), path.dirname(file), ...further.map((folder) => path.resolve(folder))];
  const relative = (name: string) => path.relative(process.cwd(), name);
  const watcher = watch([...new Set([...folders, ...envFiles.paths])], {
    ignoreInitial: true,
    ignored: (name, stats) =>
      IGNORED.test(relative(name)) ||
      (stats?.isFile() === true && !WATCHED.test(name) && !envFiles.paths.includes(name)),
  });
  const program = {
    file,
    flags: { ...served, workers: 1 },
    envFiles: envFiles.paths,
    env: envFiles.environmentBeside(),
  };
  const supervisor = new Supervisor(program, (name) => {
    const isSeen = folders.some((folder) => name.startsWith(folder + path.sep));
    if (!isSeen && !IGNORED.test(relative(name))) watcher.add(name);
  });
  const always = [...envFiles.paths, ...further.map((folder) => path.resolve(folder) + path.sep)];
  const concerns = (name: string) => always.some((one) => name.startsWith(one)) || isConcerned(name, supervisor.loaded);
  for (const event of ["add", "change", "unlink"] as const) {
    watcher.on(event, (name) => concerns(name) && supervisor.reload(relative(name))); // a new folder without files changes no module
  }
  watcher.on("error", (error) => process.stderr.write(`Watching failed: ${String(error)}\n`));
  await once(watcher, "ready"); // a change before that would go unseen
  supervisor.start();
  await supervisor.ended;
  await watcher.close();
}
