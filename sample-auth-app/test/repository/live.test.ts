import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { SECRET_KEY } from "./support/constants.js";
import { temporaryFolder } from "./support/folder.js";
import { startServer } from "./support/program.js";
import { startRedis, WITHOUT_REDIS } from "./support/redis-server.js";
import { isShown, launchChromium, WITHOUT_BROWSER, type Browser, type Tab } from "./chromium.js";

const reason = WITHOUT_BROWSER ?? WITHOUT_REDIS;
const withBrowser = reason === null ? describe : describe.skip;

withBrowser(`the pages of two replicas in Chromium${reason === null ? "" : ` (${reason})`}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => browser?.close());

  async function logIn(url: string): Promise<Tab> {
    const profile = await browser.newContext({ viewport: { width: 640, height: 480 } });
    const tab = await profile.newPage();
    await tab.goto(url);
    await isShown(tab);
    await tab.locator("#login [name=username]").fill("demo");
    await tab.locator("#login [name=password]").fill("demo-password");
    await tab.locator("#login [type=submit]").click();
    await tab.locator("#home").waitFor();
    return tab;
  }

  async function add(tab: Tab, name: string): Promise<void> {
    await tab.locator("#item").fill(name);
    await tab.getByRole("button", { name: "Add", exact: true }).click();
    await tab.getByText(`Added “${name}”`).waitFor();
  }

  const named = (tab: Tab, name: string) => tab.locator(`#items li:has-text("${name}")`);

  it("show a new item of the other, and the items that were added while their replica was restarted", async () => {
    await using redis = await startRedis();
    await using folder = await temporaryFolder();
    const env = { SECRET_KEY, REDIS_URL: redis.url, DATABASE_URL: "file:./shared.db" };
    await using one = await startServer(env, folder.path);
    const here = await logIn(await one.ready);
    await using two = await startServer(env, folder.path);
    const url = await two.ready;
    const there = await logIn(url);
    await add(here, "Ladder");
    await named(there, "Ladder").waitFor();

    two.kill("SIGTERM");
    expect(await two.ended).toBe(0);
    await add(here, "Kettle");
    await using again = await startServer({ ...env, PORT: new URL(url).port }, folder.path);
    await again.ready;
    await named(there, "Kettle").waitFor();

    await add(there, "Bucket");
    await named(here, "Bucket").waitFor();
    const shown = ["Notebook", "Fountain pen", "Desk lamp", "Ladder", "Kettle", "Bucket"];
    for (const tab of [here, there]) {
      expect(await tab.locator("#items li span").allInnerTexts()).toEqual(shown);
    }
    await supertest(url).get("/items/live").expect(401);
  });
});
