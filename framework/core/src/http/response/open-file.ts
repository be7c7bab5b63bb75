/** Opens files to send, inside the folder that they must not leave. @module */
import { HTTPException } from "../../common/exceptions.js";
import { nodeModule } from "../../common/platform.js";

/** The name under which files are asked for. */
const USER = "FileResponse";

/** An open file with its status. Its owner closes it. */
export interface OpenFile {
  /** Node's `FileHandle`, without its name: declarations of the package need no types of Node. */
  readonly handle: {
    read(
      buffer: Uint8Array,
      offset: number,
      length: number,
      position: number,
    ): Promise<{ bytesRead: number; buffer: Uint8Array }>;
    close(): Promise<void>;
  };
  readonly size: number;
  readonly modifiedNs: bigint;
}

/** Errors that mean 404. NUL in a path is an invalid argument. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG", "ELOOP", "ENXIO", "ERR_INVALID_ARG_VALUE"]);

function isAbsent(error: unknown): boolean {
  return ABSENT.has(String((error as { code?: unknown } | null)?.code));
}

/** The path that links lead to, and the folder that it is below, without links. @throws HTTPException 404. */
async function resolveInside(path: string, root: string) {
  const fs = nodeModule("node:fs/promises", USER);
  const paths = nodeModule("node:path", USER);
  const folder = await fs.realpath(root).catch((cause: unknown) => {
    throw new Error(`The root ${JSON.stringify(root)} of a file response is not a readable folder.`, { cause });
  });
  const target = await fs.realpath(paths.resolve(root, path));
  await assertBelow(target, folder);
  return { target, folder };
}

/** @throws HTTPException 404 when the path is not below the folder. Neither has links in it. */
async function assertBelow(target: string, folder: string): Promise<void> {
  const paths = nodeModule("node:path", USER);
  const below = paths.relative(folder, target);
  // On Windows the way to another drive is absolute.
  if (/^\.\.(?:[/\\]|$)/.test(below) || paths.isAbsolute(below)) throw new HTTPException(404);
}

/**
 * Attack: a link that replaces a folder after the path was resolved and before the file is opened, where `O_NOFOLLOW`
 * covers the last name only. Only Linux reports the path of an open file; the call uses no thread, because it does not
 * read the disk.
 *
 * @throws HTTPException 404 when the file is not below the folder.
 */
async function assertOpenedBelow(fd: number, folder: string): Promise<void> {
  if (process.platform !== "linux") return;
  const { readlinkSync } = nodeModule("node:fs", USER);
  let place: string;
  try {
    place = readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return; // no /proc in this jail: as on other systems
  }
  await assertBelow(place, folder);
}

/**
 * Opens a file to be read.
 *
 * @param root - The folder that it must not leave, neither by its path nor by a link; `null` for no such bound.
 * @throws HTTPException 404 when the file does not exist, or is a folder, a pipe, a device.
 */
export async function openFile(path: string, root: string | null): Promise<OpenFile> {
  const { constants, open } = nodeModule("node:fs/promises", USER);
  try {
    // Attack: opening a pipe waits for a writer, and holds one of four threads until then.
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
    const { target, folder } = root === null ? { target: path, folder: root } : await resolveInside(path, root);
    // Attack: a link that replaces the file after its path was resolved.
    const noLink = folder === null ? 0 : (constants.O_NOFOLLOW ?? 0);
    const handle = await open(target, flags | noLink);
    try {
      if (folder !== null) await assertOpenedBelow(handle.fd, folder);
      const stats = await handle.stat({ bigint: true });
      if (!stats.isFile()) throw new HTTPException(404);
      return { handle, size: Number(stats.size), modifiedNs: stats.mtimeNs };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw isAbsent(error) ? new HTTPException(404, undefined, { cause: error }) : error;
  }
}

/** The kind of entry at a path below `root`; `null` if it is missing, or neither a file nor a folder. */
export async function fileKind(path: string, root: string): Promise<"file" | "folder" | null> {
  const { stat } = nodeModule("node:fs/promises", USER);
  try {
    const stats = await stat((await resolveInside(path, root)).target);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : null;
  } catch (error) {
    if (isAbsent(error) || error instanceof HTTPException) return null;
    throw error;
  }
}
