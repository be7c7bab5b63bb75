/** `tsgi openapi`: the document of an application, without a server. @module */
import { writeFile } from "node:fs/promises";
import { CommandError, showError } from "./errors.js";
import { loadTsgiApp } from "./load-app.js";

export async function writeOpenAPI(module: string | undefined, options: { out?: string }): Promise<void> {
  const { app } = await loadTsgiApp(module);
  const document = app.openapi();
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (options.out === undefined) {
    process.stdout.write(text);
    return;
  }
  await writeFile(options.out, text).catch((error: unknown) => {
    throw new CommandError("TSGI_UNWRITABLE_FILE", `${options.out} cannot be written: ${showError(error)}`);
  });
  const count = Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0);
  process.stderr.write(`Wrote ${options.out}: ${count} operations.\n`);
}
