/** Pictures of pages in a browser. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { Pool } from "pg";

import type { Chromium, Tab } from "../browser/_chromium.js";
import { serveShop, visitShop } from "../browser/_inspected-shop.js";
import { REPOSITORY } from "../docs/_project.js";
import { binaryOf } from "../support/on-demand.js";
import { findPostgreSQL } from "../../../sample-auth-app/test/repository/support/find-postgresql.js";
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
async function logIn(chromium: Chromium, url: string, [width, height]: readonly [number, number]): Promise<Tab> {
  const { tab } = await chromium.visit(url, { width, height, deviceScaleFactor: 2 });
  await tab.locator("#login [name=username]").fill("demo");
  await tab.locator("#login [name=password]").fill("demo-password");
  await tab.locator("#login [type=submit]").click();
  await tab.locator("#items li").first().waitFor();
  return tab;
}

async function takeSample(chromium: Chromium, _example: Example, { url }: Example): Promise<Tab> {
  return logIn(chromium, url, [640, 470]);
}

/** The pages of two replicas next to each other, after an item was added on the left one. */
async function takeLive(chromium: Chromium): Promise<Tab> {
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-pictures-"));
  try {
    await using here = await serveSample(folder, REDIS_URL);
    await using there = await serveSample(folder, REDIS_URL);
    const tabs = [await logIn(chromium, here.url, [440, 580]), await logIn(chromium, there.url, [440, 580])];
    await tabs[0]?.locator("#item").fill("Ladder");
    await tabs[0]?.locator("#add button").click();
    const figures = await Promise.all(tabs.map((tab, index) => drawReplica(tab, path.join(folder, `${index}.png`))));
    const html = `<body style="margin:0;display:flex;gap:16px;font:15px sans-serif">${figures.join("")}`;
    return (await chromium.visit(`data:text/html,${encodeURIComponent(html)}`, { width: 896, height: 606 })).tab;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A picture of a replica's page with its new item, as HTML. */
async function drawReplica(tab: Tab, file: string): Promise<string> {
  await tab.locator("#items li:nth-child(4)").waitFor();
  await tab.screenshot({ path: file, fullPage: false });
  const port = String(await tab.evaluate("location.port"));
  await tab.close();
  const image = `<img width="440" src="data:image/png;base64,${(await readFile(file)).toString("base64")}">`;
  return `<figure style="margin:0"><figcaption style="padding:4px 8px">Replica on port ${port}</figcaption>${image}</figure>`;
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

/** The page of jobs in several states, in a schema that is removed. */
async function takeJobs(chromium: Chromium): Promise<Tab> {
  const url = (await findPostgreSQL()) ?? "";
  const schema = `picture_${process.pid}`;
  const program = path.join(import.meta.dirname, "_jobs-program.mjs");
  const pool = new Pool({ connectionString: url, max: 1 });
  try {
    await using page = await untilServing(
      execFile(binaryOf("node22"), [program, url, schema], { cwd: REPOSITORY }),
      /Ready on (http:[^\s,]+)/,
    );
    for (;;) {
      const { tab } = await chromium.visit(`${page.url}/jobs`, { width: 900, height: 340 });
      const states = await tab.locator("td:nth-child(2)").allInnerTexts();
      if (["done", "dead", "running", "delayed"].every((state) => states.includes(state))) return tab;
      await tab.close();
    }
  } finally {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await pool.end();
  }
}

const PAGES: Readonly<Record<string, Take>> = {
  "jobs.png": takeJobs,
  "swagger-ui.png": takeSwaggerUI,
  "redoc.png": takeReDoc,
  "sample-application.png": takeSample,
  "live-items.png": takeLive,
  "inspector.png": takeInspector,
};

/** Connects the replicas. */
const REDIS_URL = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";

/** The sample application on a separate database; with Redis, one replica of it. */
async function serveSample(folder: string, redisUrl?: string): Promise<Example> {
  const { REDIS_URL: _, ...others } = process.env;
  const child = execFile(process.execPath, ["dist/server.js"], {
    cwd: path.join(REPOSITORY, "sample-auth-app"),
    env: {
      ...others,
      PORT: "0",
      DATABASE_URL: `file:${path.join(folder, "sample.db")}`,
      ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    },
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
