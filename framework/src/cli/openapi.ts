/** `tsgi openapi`: the document of an application, without a server. @module */
import { writeFile } from "node:fs/promises";
import { showError, commandError } from "./errors.js";
import { loadTsgiApp } from "./load-app.js";

export async function writeOpenAPI(module: string | undefined, options: { out?: string }): Promise<void> {
  const { app } = await loadTsgiApp(module);
  const document = app.openapi();
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const { out } = options;
  if (out === undefined) {
    process.stdout.write(text);
    return;
  }
  await writeFile(out, text).catch((error: unknown) => {
    throw commandError("TSGI_UNWRITABLE_FILE", out, showError(error));
  });
  const count = Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0);
  process.stderr.write(`Wrote ${out}: ${count} operations.\n`);
}
