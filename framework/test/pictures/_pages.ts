/** Pictures of pages in a browser. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Chromium, Tab } from "../browser/_chromium.js";
import { serveShop, visitShop } from "../browser/_inspected-shop.js";
import { REPOSITORY } from "../docs/_project.js";
import { createExampleProject, type Example, serveExample, untilServing } from "./_terminals.js";

/** Opens a page, goes through the steps to show, and returns the tab. */
type Take = (chromium: Chromium, example: Example, sample: Example) => Promise<Tab>;

/** Narrow windows with two pixels for one: text stays readable when the picture is shown at half its size. */
const WINDOW = { width: 700, height: 752, deviceScaleFactor: 2 };

/** Swagger UI of the README's example after a request. */
async function takeSwaggerUI(chromium: Chromium, { url }: Example): Promise<Tab> {
  const { tab } = await chromium.visit(`${url}/docs`, WINDOW);
  await tab.locator(".opblock-summary-control").first().click();
  await tab.locator(".try-out__btn").click();
  await tab.locator("tr[data-param-name=item_id] input").fill("1");
  await tab.locator("button.execute").click();
  await tab.locator(".live-responses-table .response .microlight").first().waitFor();
  await tab.evaluate(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      texts.currentNode.data = texts.currentNode.data.replace(location.host, "127.0.0.1:8000");
    }
    document.activeElement?.blur();
    document.querySelector(".opblock").scrollIntoView();
  })()`);
  return tab;
}

async function takeReDoc(chromium: Chromium, { url }: Example): Promise<Tab> {
  const { tab } = await chromium.visit(`${url}/redoc`, { width: 1280, height: 760, deviceScaleFactor: 1 });
  return tab;
}

/** The sample application's page behind a login. */
async function takeSample(chromium: Chromium, _example: Example, { url }: Example): Promise<Tab> {
  const { tab } = await chromium.visit(url, { width: 640, height: 470, deviceScaleFactor: 2 });
  await tab.locator("#login [name=username]").fill("demo");
  await tab.locator("#login [name=password]").fill("demo-password");
  await tab.locator("#login [type=submit]").click();
  await tab.locator("#items li").first().waitFor();
  return tab;
}

/** The inspector of `tsgi dev` after some requests, with the steps of two. */
async function takeInspector(chromium: Chromium): Promise<Tab> {
  await using client = await serveShop();
  await visitShop(client.url);
  const { tab } = await chromium.visit(`${client.url}/__tsgi`, { width: 1180, height: 640 }, "load");
  for (const row of ["#requests summary.refused", "#requests summary.good >> nth=1", "#routes summary"]) {
    await tab.locator(row).first().click();
  }
  return tab;
}

const PAGES: Readonly<Record<string, Take>> = {
  "swagger-ui.png": takeSwaggerUI,
  "redoc.png": takeReDoc,
  "sample-application.png": takeSample,
  "inspector.png": takeInspector,
};

/** The sample application on a separate database. */
async function serveSample(folder: string): Promise<Example> {
  const child = execFile(process.execPath, ["dist/server.js"], {
    cwd: path.join(REPOSITORY, "sample-auth-app"),
    env: { ...process.env, PORT: "0", DATABASE_URL: `file:${path.join(folder, "sample.db")}` },
  });
  return untilServing(child, /Ready on (http:[^\s,]+)/);
}

/** Takes the pictures of all pages into a folder. */
export async function takePages(chromium: Chromium, folder: string): Promise<void> {
  const scratch = await mkdtemp(path.join(tmpdir(), "tsgi-pictures-"));
  try {
    await using project = await createExampleProject();
    await using example = await serveExample(project);
    await using sample = await serveSample(scratch);
    for (const [name, take] of Object.entries(PAGES)) {
      const tab = await take(chromium, example, sample);
      await tab.screenshot({ path: path.join(folder, name), fullPage: false });
      await tab.close();
    }
  } finally {
    await rm(scratch, { recursive: true });
  }
}
