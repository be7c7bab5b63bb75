/** `tsgi dev`: serves an application and restarts it when a file changes. @module */
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { watch } from "chokidar";
import { choosePort } from "./choose-port.js";
import { environmentBeside, envFiles } from "./env-file.js";
import { findModule } from "./find-module.js";
import type { ServedFlags } from "./dev-process.js";
import { Supervisor } from "./supervisor.js";

/** The flags of `tsgi dev`. */
export interface DevFlags extends Pick<ServedFlags, "host" | "port" | "loop" | "trustedProxies" | "accessLog"> {
  /** Folders that are watched besides the working directory. */
  watch: string[];
}

/** Files that change what an application does. */
const WATCHED = /\.([cm]?[jt]sx?|json|html|css|env|sql|prisma)$|(^|[\\/])\.env(\.|$)/;

/** Folders that hold no source: what tools write there would start the application again and again. */
const IGNORED = /(^|[\\/])(node_modules|coverage|\.(?!\.?[\\/]|env)[^\\/]+)([\\/]|$)/;

/** Output of a compiler, which counts where it is what is served. */
const COMPILED = /(^|[\\/])dist([\\/]|$)/;

/** Serves until SIGINT or SIGTERM. @throws ServerStartError for a port in use, where no other is agreed on. */
export async function dev(module: string | undefined, flags: DevFlags): Promise<void> {
  const file = findModule(module);
  const { watch: further, ...rest } = flags;
  const served = { ...rest, port: await choosePort(flags) };
  const folders = [process.cwd(), path.dirname(file), ...further.map((folder) => path.resolve(folder))];
  const relative = (name: string) => path.relative(process.cwd(), name);
  const servesCompiled = COMPILED.test(relative(file));
  const watcher = watch([...new Set([...folders, ...envFiles()])], {
    ignoreInitial: true,
    ignored: (name, stats) =>
      IGNORED.test(relative(name)) ||
      (!servesCompiled && COMPILED.test(relative(name))) ||
      (stats?.isFile() === true && !WATCHED.test(name) && !envFiles().includes(name)),
  });
  const program = { file, flags: { ...served, workers: 1 }, envFiles: envFiles(), env: environmentBeside() };
  const supervisor = new Supervisor(program, (imported) => {
    const name = imported.startsWith("file:") ? fileURLToPath(imported.replace(/[?#].*$/, "")) : imported;
    const isSeen = folders.some((folder) => name.startsWith(folder + path.sep));
    if (path.isAbsolute(name) && !isSeen && !IGNORED.test(relative(name))) watcher.add(name);
  });
  for (const event of ["add", "change", "unlink"] as const) {
    watcher.on(event, (name) => supervisor.reload(relative(name))); // a folder alone changes nothing
  }
  watcher.on("error", (error) => process.stderr.write(`Watching failed: ${String(error)}\n`));
  await once(watcher, "ready"); // a change before that would go unseen
  supervisor.start();
  await supervisor.ended;
  await watcher.close();
}
