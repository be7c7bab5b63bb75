import { FileResponse, Router, StaticFiles } from "tsgi";

const PUBLIC = new URL("../../public/", import.meta.url);
/** A copy may be cached, but is revalidated each time: the response is 304 while the file is unchanged. */
const headers = { "Cache-Control": "no-cache" };

/** The page that people see. */
export const page = new Router({ tags: ["page"] });

page.get("/", { includeInSchema: false }, async () => new FileResponse(new URL("index.html", PUBLIC), { headers }));

/** The files that belong to it, to be mounted below `/assets`. */
export const assets = new StaticFiles(new URL("assets/", PUBLIC), { headers });
