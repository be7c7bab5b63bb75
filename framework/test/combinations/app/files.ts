/** Files on the disk: the pages of the library, and manuals to download. Needs Node. @module */
import { Buffer } from "node:buffer";
import {
  type App,
  Depends,
  File,
  FileResponse,
  type FileResponseOptions,
  Path,
  Router,
  StaticFiles,
  type StaticFilesOptions,
  t,
} from "tsgi";
import { getClerk } from "./auth.js";

const pages: StaticFilesOptions = {
  html: true,
  precompressed: true,
  fallback: "index.html",
  headers: { "x-static": "yes" },
};

/** @param folder - Of the pages. */
export function createFiles(folder: string | URL): Router {
  const router = new Router({ prefix: "/manuals", tags: ["manuals"] });
  router.get("/{name}", { params: { name: Path(), clerk: Depends(getClerk) } }, async ({ name, clerk }) => {
    const options: FileResponseOptions = { root: folder, filename: `${clerk}-${name}`, disposition: "inline" };
    return new FileResponse(name, options);
  });
  router.post(
    "/compared/{name}",
    { params: { name: Path(), file: File() }, returns: t.Boolean() },
    async ({ file }) => {
      const parts: Uint8Array[] = [];
      for await (const part of file.stream()) parts.push(part);
      return Buffer.concat(parts).equals(await file.read());
    },
  );
  return router;
}

/** Mounts the pages of the library. */
export function mountPages(app: App, folder: string | URL): void {
  app.mount("/pages", new StaticFiles(folder, pages));
}
