/**
 * `make pictures`: takes every picture of the README and the documentation again, into `framework/site/public`. Each
 * shows what runs: the README's example, the tutorial's, the command, the sample application.
 */
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { Chromium } from "../browser/_chromium.js";
import { takePages } from "./_pages.js";
import { drawTerminal } from "./_terminal-picture.js";
import { TERMINALS } from "./_terminals.js";

const FOLDER = path.resolve(import.meta.dirname, "../../site/public");

for (const [name, record] of Object.entries(TERMINALS)) {
  await writeFile(path.join(FOLDER, name), drawTerminal(await record()));
  console.log(name);
}
const chromium = await Chromium.launch();
try {
  await takePages(chromium, FOLDER);
} finally {
  await chromium.close();
}
for (const name of [
  "swagger-ui.png",
  "redoc.png",
  "sample-application.png",
  "live-items.png",
  "inspector.png",
  "jobs.png",
]) {
  console.log(`${name}: ${Math.ceil((await stat(path.join(FOLDER, name))).size / 1024)} KB`);
}
