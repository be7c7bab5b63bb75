import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { TestClient } from "../../core/src/platforms/testing/index.js";
import { CACHE, Chromium, type Tab, WITHOUT_BROWSER } from "./_chromium.js";
import { createExchangeApp } from "./_exchange-page.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

/** Chromium tells of progress every 50 ms: long enough for several of them. */
const SIZE = 96 << 20;

withBrowser(`a page in Chromium${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  const file = randomBytes(SIZE);
  const sha256 = createHash("sha256").update(file).digest("hex");
  let folder = "";
  let chromium: Chromium;
  let client: TestClient;
  let tab: Tab;
  let messages: readonly string[] = [];

  /** The result of a part of the page after it is done. */
  const said = async (id: string) => {
    await tab.locator(`#${id}[data-state=done]`).waitFor();
    return (await tab.locator(`#${id}`).innerText()).split("\n");
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-exchange-"));
    await writeFile(path.join(folder, "upload.bin"), file);
    client = await TestClient.open(createExchangeApp(folder));
    chromium = await Chromium.launch();
    ({ tab, messages } = await chromium.visit(client.url));
  });

  afterAll(async () => {
    await tab?.screenshot({ path: path.join(CACHE, "exchange.png"), fullPage: true });
    await chromium?.close();
    await client?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("uploads a file and sees its progress", async () => {
    await tab.locator("#file").setInputFiles(path.join(folder, "upload.bin"));
    expect(await said("uploaded")).toEqual([`status 200, ${SIZE} bytes, progress in steps`, sha256]);
  });

  it("downloads it by ranges, of which each is the same file's", async () => {
    await tab.locator("#download").click();
    const part = SIZE / 4;
    expect(await said("downloaded")).toEqual([
      ...[0, 1, 2, 3].map((index) => `206 bytes ${index * part}-${(index + 1) * part - 1}/${SIZE}`),
      `416 bytes */${SIZE}`,
      sha256,
    ]);
  });

  it("receives events, and continues with the next one after a connection ends", async () => {
    expect(await said("events")).toEqual(["1 1, 2 4, 3 9, 4 16, 5 25, 6 36, 7 49", "3 connections"]);
  });

  it("talks over a WebSocket, and sees the codes of its close and of a path without a route", async () => {
    expect(await said("socket")).toEqual([
      "v2",
      "text héllo",
      "bytes 0102ff",
      "4321 as you wish true",
      "no route: 4004",
    ]);
  });

  it("reports no errors except for the range past the end", () => {
    expect(messages.filter((message) => !message.includes("416"))).toEqual([]);
  });
});
