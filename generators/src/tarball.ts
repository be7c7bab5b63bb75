import { gunzipSync } from "node:zlib";

const blockSize = 512;

/** The type of an entry that is a file, in the format of POSIX.1-1988 and in the older one. */
const isFile = (type: string) => type === "0" || type === "\0";

/**
 * Reads the files of a tarball that npm has packed, all of which are below `package/`.
 *
 * @throws TypeError for a name that does not fit into a header of POSIX.1-1988
 */
export function readTarball(tarball: Buffer): Map<string, Buffer> {
  const archive = gunzipSync(tarball);
  const files = new Map<string, Buffer>();
  for (let offset = 0; offset + blockSize <= archive.length && archive[offset] !== 0;) {
    const field = (start: number, length: number) =>
      archive.toString("utf8", offset + start, offset + start + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8);
    const type = archive.toString("latin1", offset + 156, offset + 157);
    const prefix = field(345, 155);
    const path = `${prefix === "" ? "" : `${prefix}/`}${field(0, 100)}`;
    if (type === "x") {
      throw new TypeError(`the tarball has an extended header: ${path}`);
    }
    const start = offset + blockSize;
    if (isFile(type)) {
      files.set(path.replace(/^package\//, ""), archive.subarray(start, start + size));
    }
    offset = start + Math.ceil(size / blockSize) * blockSize;
  }
  return files;
}
