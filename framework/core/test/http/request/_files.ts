/** The files that a test of uploads can observe. */
import { readdirSync, readlinkSync } from "node:fs";

/** The temporary files of uploads that this process holds open; they have no other name. Only Linux can report it. */
export function openUploads(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.includes("tsgi-upload-") ? [target] : [];
    } catch {
      return []; // closed while the folder was read
    }
  });
}

/** Bytes that differ from place to place, so that no two parts of them are the same. */
export function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE((at * 2654435761) >>> 0, at);
  return bytes;
}

export const MiB = 1024 * 1024;
