import type { Request } from "../request.js";
import { Response } from "../response.js";

/** A file of a page: one of an installed package, or text of our own. */
export interface Asset {
  /** The last segment of its address. */
  readonly name: string;
  readonly mediaType: string;
  /** The package that has the file; `null` for text of our own. */
  readonly packageName: string | null;
  /** The file's path inside the package, or the text. */
  readonly content: string;
}

/** Node's own modules are loaded on use: a web runtime imports this file as well. */
async function loadNode() {
  const [{ createRequire }, { readFile }] = await Promise.all([import("node:module"), import("node:fs/promises")]);
  return { resolve: createRequire(import.meta.url).resolve, readFile };
}

const versions = new Map<string, Promise<string>>();

async function readVersion(packageName: string): Promise<string> {
  const { resolve, readFile } = await loadNode();
  const { version } = JSON.parse(await readFile(resolve(`${packageName}/package.json`), "utf8")) as { version: string };
  return version;
}

/** The version of an installed package, read once. */
export function versionOf(packageName: string): Promise<string> {
  let version = versions.get(packageName);
  if (!version) versions.set(packageName, (version = readVersion(packageName)));
  return version;
}

async function bytesOf({ packageName, content }: Asset): Promise<string | Uint8Array> {
  if (packageName === null) return content;
  const { resolve, readFile } = await loadNode();
  return readFile(resolve(`${packageName}/${content}`));
}

/** Headers of everything that the pages consist of. */
export const PAGE_HEADERS = Object.freeze({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });

/** For how long a browser does not ask again for a file: a day. After that it asks whether it has changed. */
const MAX_AGE_SECONDS = 86_400;

/** Sends a file. It is not sent again to a browser that has it. */
export async function sendAsset(asset: Asset, request: Request): Promise<Response> {
  const headers: Record<string, string> = { ...PAGE_HEADERS };
  if (asset.packageName === null) headers["cache-control"] = "no-cache";
  else {
    headers["cache-control"] = `public, max-age=${MAX_AGE_SECONDS}`;
    headers["etag"] = `"${await versionOf(asset.packageName)}-${asset.name}"`;
    if (matches(request.header("if-none-match"), headers["etag"]))
      return new Response(null, { statusCode: 304, headers });
  }
  return new Response(await bytesOf(asset), { headers, mediaType: asset.mediaType });
}

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or `*`. */
function matches(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  return condition.split(",").some((tag) => [etag, "*"].includes(tag.trim().replace(/^W\//, "")));
}
