/** Writes files so that readers see either the old content or the new. @module */
import { HTTPException } from "../common/exceptions.js";
import { nodeModule } from "../common/platform.js";
import { missingModule } from "../common/runtime.js";

/** A full disk: ENOSPC for its space, EDQUOT for the share of a user, EFBIG for the largest file that it takes. */
const FULL_DISK = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** The error for the client: 507 for a full disk, RFC 4918 §11.5; any other error is returned as it is. */
export function toFileError(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return FULL_DISK.has(code) ? new HTTPException(507, undefined, { cause: error }) : error;
}

/** A path as text. */
export function toPath(path: string | URL): string {
  return typeof path === "string" ? path : nodeModule("node:url", "The URL of a file").fileURLToPath(path);
}

/**
 * Writes a file next to its destination and then moves it there: readers never see an incomplete file.
 *
 * @throws HTTPException 507 when the disk is full.
 */
export async function saveFile(path: string | URL, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  if (process.env["TSGI_PLATFORM"] === "web") throw missingModule("node:fs/promises", "UploadFile.saveTo()");
  const { open, rename, rm } = nodeModule("node:fs/promises", "UploadFile.saveTo()");
  const target = toPath(path);
  const part = `${target}.${crypto.randomUUID()}.part`;
  const file = await open(part, "wx").catch((error: unknown) => {
    throw toFileError(error);
  });
  try {
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw toFileError(error);
  }
}
