import { fileURLToPath } from "node:url";

import { FileResponse, Router } from "tsgi";

const PUBLIC = fileURLToPath(new URL("../../public/", import.meta.url));
/** A copy may be kept, but is asked about each time: the answer is 304 while the file is the same. */
const headers = { "Cache-Control": "no-cache" };

/** The page that people see, and the files that belong to it. */
export const page = new Router({ tags: ["page"] });

page.get("/", { includeInSchema: false }, async () => new FileResponse("index.html", { root: PUBLIC, headers }));

page.get(
  "/assets/{name}",
  { includeInSchema: false },
  async ({ name }) => new FileResponse(name, { root: `${PUBLIC}assets`, headers }),
);
