import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** Folder of the packages that only these tests need, and of their pictures. */
export const CACHE = path.resolve(import.meta.dirname, "../../../.cache/browser");

const PLAYWRIGHT = "playwright-core@1.65.1";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const executable = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((file) => file !== undefined && existsSync(file));

const NO_CHROMIUM = "Chromium is not installed: apt-get install chromium, or name one in CHROMIUM";

/** The reason to skip the tests in a browser, or `null`. */
export const WITHOUT_BROWSER =
  process.env["TSGI_SLOW"] === undefined ? "only with TSGI_SLOW=1" : executable === undefined ? NO_CHROMIUM : null;

/** The part of Playwright that is used. */
interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  setInputFiles(file: string): Promise<void>;
  first(): Locator;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  waitFor(options?: { state: "attached" | "visible" }): Promise<void>;
}

/** The end of loading. A page with an open stream is never idle. */
type Loaded = "networkidle" | "load";

/** The protocol of the browser's developer tools. */
export interface DevTools {
  send(method: string, params?: object): Promise<unknown>;
}

/** A tab, as Playwright drives it. */
export interface Tab {
  context(): { newCDPSession(tab: Tab): Promise<DevTools> };
  goto(url: string, options: { waitUntil: Loaded }): Promise<unknown>;
  reload(): Promise<unknown>;
  title(): Promise<string>;
  locator(selector: string): Locator;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  emulateMedia(options: { colorScheme: "light" | "dark" }): Promise<void>;
  /** Evaluates an expression in the page. Its value must be JSON. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
  waitForEvent(event: "popup"): Promise<Tab>;
  on(event: "console", listener: (message: { text(): string }) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  on(event: "request", listener: (request: { url(): string }) => void): void;
}

interface Browser {
  newPage(options: { viewport: { width: number; height: number }; deviceScaleFactor: number }): Promise<Tab>;
  close(): Promise<void>;
}

interface Playwright {
  chromium: { launch(options: { executablePath: string; args: readonly string[] }): Promise<Browser> };
}

function loadPlaywright(): Playwright {
  mkdirSync(CACHE, { recursive: true });
  const require = createRequire(path.join(CACHE, "index.js"));
  if (!existsSync(path.join(CACHE, "node_modules/playwright-core"))) {
    execFileSync("npm", ["install", "--prefix", CACHE, "--no-save", "--no-package-lock", PLAYWRIGHT], {
      stdio: "ignore",
    });
  }
  return require("playwright-core") as Playwright;
}

/** The size of a tab, in CSS pixels, and the number of pixels for each. */
interface Window {
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor?: number;
}

const DESKTOP: Window = { width: 1280, height: 900 };

/** A tab with the addresses that it requested and the messages of its console. */
export interface Visit {
  readonly tab: Tab;
  readonly requests: readonly string[];
  readonly messages: readonly string[];
}

/** A headless browser for the tests of one file. */
export class Chromium {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<Chromium> {
    if (executable === undefined) throw new Error(NO_CHROMIUM);
    return new Chromium(await loadPlaywright().chromium.launch({ executablePath: executable, args: FLAGS }));
  }

  /** Opens an address and waits until it is loaded, by default until all requests have ended. */
  async visit(
    url: string,
    { deviceScaleFactor = 1, ...viewport }: Window = DESKTOP,
    waitUntil: Loaded = "networkidle",
  ): Promise<Visit> {
    const tab = await this.#browser.newPage({ viewport, deviceScaleFactor });
    const requests: string[] = [];
    const messages: string[] = [];
    tab.on("request", (request) => requests.push(request.url()));
    tab.on("console", (message) => messages.push(message.text()));
    tab.on("pageerror", (error) => messages.push(error.message));
    await tab.goto(url, { waitUntil });
    return { tab, requests, messages };
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
