import type { Request } from "../request.js";
import { listsTag, Response } from "../response.js";

/** A file of a page: one of an installed package, or text of our own. */
export interface Asset {
  /** The last segment of its address. */
  readonly name: string;
  readonly mediaType: string;
  /** The package that has the file; `null` for text of our own. */
  readonly packageName: string | null;
  /** The file's path inside the package, or the text. */
  readonly content: string;
  /** Changes the file's text before it is sent. */
  readonly edit?: (text: string) => string;
}

/** Where the build copies the packages that are packed with the framework instead of being installed beside it. */
const PACKED = "../../dist/assets/";

/** Node's own modules are loaded on use: a web runtime imports this file as well. */
async function findPackage(name: string): Promise<InstalledPackage> {
  const [{ createRequire }, { readFile }, { pathToFileURL }] = await Promise.all([
    import("node:module"),
    import("node:fs/promises"),
    import("node:url"),
  ]);
  const readVersion = async (folder: URL) => {
    const manifest = JSON.parse(await readFile(new URL("package.json", folder), "utf8")) as { version: string };
    return { version: manifest.version, read: (file: string) => readFile(new URL(file, folder)) };
  };
  return readVersion(new URL(`${PACKED}${name}/`, import.meta.url)).catch(() =>
    readVersion(new URL("./", pathToFileURL(createRequire(import.meta.url).resolve(`${name}/package.json`)))),
  );
}

/** A package on the disk. */
interface InstalledPackage {
  readonly version: string;
  readonly read: (file: string) => Promise<Uint8Array>;
}

const packages = new Map<string, Promise<InstalledPackage>>();

/** A package, looked for once. */
function packageOf(name: string): Promise<InstalledPackage> {
  let found = packages.get(name);
  if (!found) packages.set(name, (found = findPackage(name)));
  return found;
}

/** Headers of everything that the pages consist of. */
export const PAGE_HEADERS = Object.freeze({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });

/** For how long a browser does not ask again for a file: a day. After that it asks whether it has changed. */
const MAX_AGE_SECONDS = 86_400;

/** Sends a file. It is not sent again to a browser that has it. */
export async function sendAsset(
  { name, mediaType, packageName, content, edit }: Asset,
  request: Request,
): Promise<Response> {
  if (packageName === null) {
    return new Response(content, { headers: { ...PAGE_HEADERS, "cache-control": "no-cache" }, mediaType });
  }
  const { version, read } = await packageOf(packageName);
  const etag = `"${version}-${name}"`;
  const headers = { ...PAGE_HEADERS, "cache-control": `public, max-age=${MAX_AGE_SECONDS}`, etag };
  if (isCurrent(request, etag)) return new Response(null, { statusCode: 304, headers });
  const bytes = await read(content);
  return new Response(edit ? edit(new TextDecoder().decode(bytes)) : bytes, { headers, mediaType });
}

/** RFC 9110 §13.1.2: whether the client has what is to be sent. */
export function isCurrent(request: Request, etag: string): boolean {
  const condition = request.header("if-none-match");
  return condition !== undefined && listsTag(condition, etag, "weak");
}
