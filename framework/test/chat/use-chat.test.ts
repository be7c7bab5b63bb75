import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { build } from "esbuild";
import { Chromium, type Tab, WITHOUT_BROWSER } from "../browser/_chromium.js";
import { installOnDemand } from "../support/on-demand.js";
import { HAS_REDIS } from "../support/redis-server.js";
import { ChatServers } from "./_chat-servers.js";

const REACT = ["@ai-sdk/react@3.0.327", "react@19.2.1", "react-dom@19.2.1"];

const reason = WITHOUT_BROWSER ?? (HAS_REDIS ? null : "redis-server is not installed");

const ENTRY = `
  import { createRoot } from "react-dom/client";
  import { Chat } from "./chat.tsx";
  const headers = { authorization: "Bearer ada" };
  fetch("/api/chat/tea", { headers })
    .then((response) => response.json())
    .then((saved) => createRoot(document.getElementById("root")).render(<Chat id="tea" token="ada" saved={saved} />));
`;

/** Bundles the component of the page with React and the AI SDK. */
async function bundle(folder: string): Promise<void> {
  const modules = path.join(installOnDemand("use-chat", REACT), "node_modules");
  // The repository has an empty package in the place of React, which Prisma would install otherwise.
  const alias = Object.fromEntries(["react", "react-dom"].map((name) => [name, path.join(modules, name)]));
  await build({
    stdin: { contents: ENTRY, loader: "tsx", resolveDir: folder },
    bundle: true,
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    nodePaths: [modules],
    alias,
    logLevel: "silent",
    outfile: path.join(folder, "page.js"),
  });
}

(reason === null ? describe : describe.skip)(`useChat in Chromium${reason === null ? "" : ` (${reason})`}`, () => {
  let servers: ChatServers;
  let chromium: Chromium;

  beforeAll(async () => {
    servers = await ChatServers.start();
    await bundle(servers.folder);
    chromium = await Chromium.launch();
  });
  afterAll(async () => {
    await chromium?.close();
    await servers?.[Symbol.asyncDispose]();
  });

  const open = async (url = "") => {
    const { tab, messages } = await chromium.visit(url, undefined, "load");
    await tab.locator("main[data-status]").waitFor({ state: "attached" });
    return { tab, messages };
  };
  /** Waits until the last message has the text, and returns all messages. */
  const shown = async (tab: Tab, text: string) => {
    await tab.locator(`p:last-of-type:text-is("${text}")`).waitFor({ state: "attached" });
    return tab.locator("p").allInnerTexts();
  };

  it("continues a response after the page is loaded again from another server, and ends it by its button", async () => {
    const [here, there] = servers.urls;
    const first = await open(here);
    await first.tab.locator("#send").click();
    await servers.write("one ", "two ");
    await shown(first.tab, "one two");
    await first.tab.close();
    await servers.write("three ");
    const { tab, messages } = await open(there);
    expect(await shown(tab, "one two three")).toEqual(["Hello", "one two three"]);
    await servers.write("four", "END");
    expect(await shown(tab, "one two three four")).toEqual(["Hello", "one two three four"]);
    await tab.locator("main[data-status=ready]").waitFor({ state: "attached" });
    await tab.locator("#send").click();
    await servers.write("five ");
    await shown(tab, "five");
    await tab.locator("#stop").click();
    await servers.aborted();
    await tab.locator("main[data-status=ready]").waitFor({ state: "attached" });
    expect(await shown(tab, "five")).toEqual(["Hello", "one two three four", "Hello", "five"]);
    expect(messages).toEqual([]);
  });
});
