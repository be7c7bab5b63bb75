import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The packages and pictures of these tests. */
export const CACHE = path.resolve(".cache/browser");

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

/** The reason why the tests have no browser, or `null`. */
export const WITHOUT_BROWSER =
  process.env["TSGI_SLOW"] === undefined
    ? "only with TSGI_SLOW=1"
    : executable === undefined
      ? "Chromium is missing: apt-get install chromium, or name one in CHROMIUM"
      : null;

/** The part of Playwright that is used. */
interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  press(key: string): Promise<void>;
  count(): Promise<number>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  waitFor(options?: { state: "visible" | "hidden" }): Promise<void>;
}

/** A tab, as Playwright drives it. */
export interface Tab {
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  locator(selector: string): Locator;
  getByRole(role: string, options: { name: string; exact?: boolean }): Locator;
  getByText(text: string): Locator;
  evaluate<T>(expression: string): Promise<T>;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  on(event: "console", listener: (message: { text(): string }) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  on(event: "request", listener: (request: { url(): string }) => void): void;
}

/** A browser's profile: its tabs share their cookies. */
export interface Profile {
  newPage(): Promise<Tab>;
  cookies(): Promise<{ name: string; httpOnly: boolean; path: string; sameSite: string }[]>;
  close(): Promise<void>;
}

/** A headless browser. */
export interface Browser {
  newContext(options: {
    viewport: { width: number; height: number };
    colorScheme?: "light" | "dark";
  }): Promise<Profile>;
  close(): Promise<void>;
}

/** Settles when the page has read who is logged in, and shows it. */
export async function isShown(tab: Tab): Promise<void> {
  await tab.locator("main > :is(#entrance, #provider, #home):not([hidden])").waitFor();
}

interface Playwright {
  chromium: { launch(options: { executablePath: string; args: readonly string[] }): Promise<Browser> };
}

/** Starts the browser; what drives it is fetched the first time. */
export async function launchChromium(): Promise<Browser> {
  mkdirSync(CACHE, { recursive: true });
  if (!existsSync(path.join(CACHE, "node_modules/playwright-core"))) {
    execFileSync("npm", ["install", "--prefix", CACHE, "--no-save", "--no-package-lock", PLAYWRIGHT], {
      stdio: "ignore",
    });
  }
  const { chromium } = createRequire(path.join(CACHE, "index.js"))("playwright-core") as Playwright;
  return chromium.launch({ executablePath: executable ?? "", args: FLAGS });
}
