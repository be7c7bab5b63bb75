import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { seed } from "../../src/seed.js";
import { Passwords } from "@tsgi/passwords";
import { openApp } from "./support.js";
import { CHEAP, PASSWORD } from "./support/constants.js";
import { CACHE, isShown, launchChromium, WITHOUT_BROWSER, type Browser, type Profile, type Tab } from "./chromium.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;
const DESKTOP = { width: 1024, height: 720 };
const PHONE = { width: 360, height: 720 };

/** The line that a browser writes for a 401, which the page expects. */
const REFUSED = /^Failed to load resource: the server responded with a status of 40[19] /;

withBrowser(`the page in Chromium${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let browser: Browser;
  let app: Awaited<ReturnType<typeof openApp>>;

  beforeAll(async () => {
    browser = await launchChromium();
    app = await openApp();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.[Symbol.asyncDispose]();
  });

  /** Opens the page in a separate profile, or in one that is open already. */
  async function visit(profile?: Profile, url = app.url) {
    const own = profile ?? (await browser.newContext({ viewport: DESKTOP }));
    const tab = await own.newPage();
    const messages: string[] = [];
    const requests: string[] = [];
    tab.on("console", (message) => messages.push(message.text()));
    tab.on("pageerror", (error) => messages.push(error.message));
    tab.on("request", (request) => requests.push(request.url()));
    await tab.goto(url);
    await isShown(tab);
    return {
      tab,
      profile: own,
      said: messages,
      messages: () => messages.filter((text) => !REFUSED.test(text)),
      requests,
    };
  }

  async function reload(tab: Tab): Promise<void> {
    await tab.reload();
    await isShown(tab);
  }

  const picture = (tab: Tab, name: string) => tab.screenshot({ path: path.join(CACHE, `${name}.png`), fullPage: true });

  async function register(tab: Tab, username: string, password = PASSWORD): Promise<void> {
    await tab.getByRole("tab", { name: "Register" }).click();
    await tab.locator("#register [name=username]").fill(username);
    await tab.locator("#register [name=email]").fill(`${username}@example.com`);
    await tab.locator("#register [name=password]").fill(password);
    await tab.locator("#register [name=password]").press("Enter");
  }

  async function logIn(tab: Tab, username: string, password = PASSWORD): Promise<void> {
    await tab.locator("#login [name=username]").fill(username);
    await tab.locator("#login [name=password]").fill(password);
    await tab.locator("#login [type=submit]").click();
  }

  async function add(tab: Tab, name: string): Promise<void> {
    await tab.locator("#item").fill(name);
    await tab.getByRole("button", { name: "Add", exact: true }).click();
    await tab.getByText(`Added “${name}”`).waitFor();
  }

  it("asks for the session, without a console message, an inline script or another host", async () => {
    const { tab, profile, said, requests } = await visit();
    await tab.locator("#login").waitFor();
    await picture(tab, "sample-entrance");
    expect(said).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(app.url))).toEqual([]);
    await profile.close();
  });

  it("is not logged in after another site has submitted the login form", async () => {
    await app.register("mallory");
    const form = `<form method=post action="${app.url}/auth/token"><input name=username value=mallory>
      <input name=password value="${PASSWORD}"></form><script>document.forms[0].submit()</script>`;
    const foreign = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(form));
    await once(foreign.listen(0, "127.0.0.1"), "listening");
    const profile = await browser.newContext({ viewport: DESKTOP });
    const tab = await profile.newPage();
    // To a browser, localhost and 127.0.0.1 are two sites.
    await tab.goto(`http://localhost:${(foreign.address() as AddressInfo).port}/`);
    await tab.getByText("Cross-site request refused").waitFor();
    expect(await profile.cookies()).toEqual([]);
    await tab.goto(app.url);
    await tab.locator("#login").waitFor();
    await profile.close();
    foreign.close();
  });

  it("registers, shows an empty list, and adds items, whose names are text", async () => {
    const { tab, profile, messages } = await visit();
    await register(tab, "alice");
    await tab.locator("#empty").waitFor();
    await picture(tab, "sample-empty");
    for (const name of ["Notebook", "Fountain pen", "<img src=x onerror=alert(1)>"]) {
      await add(tab, name);
    }
    expect(await tab.locator("#items li span").allInnerTexts()).toEqual([
      "Notebook",
      "Fountain pen",
      "<img src=x onerror=alert(1)>",
    ]);
    await picture(tab, "sample-items");
    expect(messages()).toEqual([]);
    await profile.close();
  });

  it("shows the demo user in development, who logs in and deletes an item", async () => {
    await using own = await openApp({ env: { NODE_ENV: "development" } });
    await seed(own.db, new Passwords(CHEAP));
    const { tab, profile, said } = await visit(undefined, own.url);
    expect(await tab.locator("#demo").innerText()).toBe("In development: user demo, password demo-password");
    await logIn(tab, "demo", "demo-password");
    await tab.getByRole("button", { name: "Delete Fountain pen" }).click();
    await tab.getByText("Deleted “Fountain pen”").waitFor();
    await reload(tab);
    expect(await tab.locator("#items li span").allInnerTexts()).toEqual(["Notebook", "Desk lamp"]);
    for (const name of ["Notebook", "Desk lamp"]) {
      await tab.getByRole("button", { name: `Delete ${name}` }).click();
    }
    await tab.locator("#empty").waitFor();
    expect(said).toEqual([]);
    await profile.close();
  });

  it("recognizes the user after a reload and in a second tab, by a cookie that scripts cannot read", async () => {
    const { tab, profile, messages } = await visit();
    await register(tab, "bob");
    await tab.locator("#home").waitFor();
    await add(tab, "Lamp");
    const [cookie, ...others] = await profile.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ name: "refresh_token", httpOnly: true, path: "/auth", sameSite: "Strict" });
    expect(await tab.evaluate("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })")).toBe("{}");
    await reload(tab);
    expect(await tab.locator("#name").innerText()).toBe("bob");
    expect(await tab.locator("#items li span").allInnerTexts()).toEqual(["Lamp"]);
    const second = await visit(profile);
    await Promise.all([reload(tab), reload(second.tab)]);
    expect(await tab.locator("#name").innerText()).toBe("bob");
    expect(await second.tab.locator("#name").innerText()).toBe("bob");
    expect(messages()).toEqual([]);
    await profile.close();
  });

  it("logs out, for the next load as well, and in again", async () => {
    const { tab, profile } = await visit();
    await register(tab, "carol");
    await tab.locator("#home").waitFor();
    await tab.getByRole("button", { name: "Log out" }).click();
    await tab.getByText("You are logged out.").waitFor();
    await reload(tab);
    await tab.locator("#login").waitFor();
    await logIn(tab, "carol");
    await tab.locator("#home").waitFor();
    expect(await tab.locator("#name").innerText()).toBe("carol");
    await profile.close();
  });

  it("shows the error: the password, a name that is in use, a session that has ended", async () => {
    const { tab, profile, messages } = await visit();
    await logIn(tab, "alice", "wrong horse");
    await tab.getByText("Incorrect username or password").waitFor();
    await picture(tab, "sample-refused");
    await register(tab, "alice");
    await tab.getByText("Username already taken").waitFor();
    await register(tab, "dave", "x".repeat(129));
    await tab.getByText("password: Password should have 8 to 128 characters").waitFor();
    await tab.getByRole("tab", { name: "Log in" }).click();
    await logIn(tab, "alice");
    await tab.locator("#home").waitFor();
    await app.db.user.update({ where: { username: "alice" }, data: { disabled: true } });
    await tab.locator("#item").fill("Ladder");
    await tab.getByRole("button", { name: "Add", exact: true }).click();
    await tab.locator("#login").waitFor();
    expect(messages().filter((text) => !text.includes("422"))).toEqual([]);
    await profile.close();
  });

  it("shows the first items and the others on demand, on a phone in the dark as well", async () => {
    const profile = await browser.newContext({ viewport: PHONE, colorScheme: "dark" });
    const { tab } = await visit(profile);
    await register(tab, "erin");
    await tab.locator("#home").waitFor();
    const { id: ownerId } = await app.db.user.findUniqueOrThrow({ where: { username: "erin" } });
    const names = Array.from({ length: 25 }, (_, index) => `Thing ${index + 1}`);
    await app.db.item.createMany({ data: names.map((name) => ({ name, ownerId })) });
    await reload(tab);
    expect(await tab.locator("#items li").count()).toBe(20);
    await picture(tab, "sample-phone");
    await tab.getByRole("button", { name: "Show more" }).click();
    await tab.locator("#more").waitFor({ state: "hidden" });
    expect(await tab.locator("#items li span").allInnerTexts()).toEqual(names);
    expect(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await profile.close();
  });
});
