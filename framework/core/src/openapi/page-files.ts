/** The files of the pages that show the document, which are in the package `@tsgi/docs-ui`. @module */
import { HTTPException } from "../common/exceptions.js";
import { firstOf, places } from "../common/installed.js";
import { nodeModule } from "../common/platform.js";
import { FileResponse } from "../http/response/file.js";
import { type DocsPage, PAGE_HEADERS, type PageFiles } from "./page.js";

let home: URL | null | undefined;

/** The folder of a page in `@tsgi/docs-ui`, which is looked up once; `null` if it is missing. */
function folderOf({ folder }: DocsPage): URL | null {
  if (home === undefined) home = findHome();
  return home && new URL(`${folder}/`, home);
}

function findHome(): URL | null {
  const { createRequire } = nodeModule("node:module", "A page");
  const { pathToFileURL } = nodeModule("node:url", "A page");
  const manifest = firstOf(places(), (place) => createRequire(place).resolve("@tsgi/docs-ui/package.json"));
  return manifest === null ? null : new URL("dist/", pathToFileURL(manifest));
}

/** A browser asks again for a file after a day. */
const MAX_AGE_SECONDS = 86_400;

/** A bundle leaves the files in the package. */
function isComplete(page: DocsPage): boolean {
  const folder = folderOf(page);
  return folder !== null && nodeModule("node:fs", "A page").existsSync(folder);
}

/** @throws HTTPException with 404 if a bundle leaves the file out. */
function open(page: DocsPage, name: string): FileResponse {
  const root = folderOf(page);
  if (root === null || !isComplete(page)) throw new HTTPException(404);
  const headers = { ...PAGE_HEADERS, "cache-control": `public, max-age=${MAX_AGE_SECONDS}` };
  return new FileResponse(name, { root, headers });
}

/** The files on a platform that has files. */
export const pageFiles: PageFiles = { isComplete, open };
