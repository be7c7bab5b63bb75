/** The page on passkeys, in Chromium with a virtual authenticator. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { blocksOf, fileOf } from "../docs/_blocks.js";
import { REPOSITORY } from "../docs/_project.js";
import { freePort } from "../support/free-port.js";
import { installOnDemand } from "../support/on-demand.js";
import { Chromium, type DevTools, type Tab, WITHOUT_BROWSER } from "./_chromium.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

const PAGE = path.join(REPOSITORY, "framework/docs/passkeys.md");

const OPTIONS = {
  target: "es2023",
  lib: ["es2023", "esnext.disposable"],
  types: ["node"],
  module: "nodenext",
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
};

const SERVER = `
import { serve } from "tsgi/node";
import { app } from "./app.js";
const silent = () => {};
await serve(app, { port: Number(process.env.PORT), logger: { debug: silent, info: silent, warn: console.warn, error: console.error } });
process.send("listening");`;

/** Compiles the example below a folder that has the library, and serves it. */
async function startExample() {
  const folder = mkdtempSync(path.join(installOnDemand("passkeys", ["@simplewebauthn/server@14.0.3"]), "example-"));
  for (const block of blocksOf(PAGE, readFileSync(PAGE, "utf8"))) {
    const file = fileOf(block);
    if (file !== null) writeFileSync(path.join(folder, file), block.code);
  }
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS }));
  writeFileSync(path.join(folder, "server.js"), SERVER);
  execFileSync(process.execPath, [path.join(REPOSITORY, "node_modules/typescript/bin/tsc"), "-p", folder]);
  const port = await freePort();
  const origin = `http://localhost:${port}`; // an address cannot have passkeys
  const server = spawn(process.execPath, [path.join(folder, "server.js")], {
    env: { ...process.env, PORT: String(port), ORIGIN: origin },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(server, "message");
  const dispose = async () => {
    server.kill();
    if (server.exitCode === null) await once(server, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
  return { origin, port, [Symbol.asyncDispose]: dispose };
}

/** A device with a fingerprint reader. */
const DEVICE = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
};

interface Credential {
  readonly credentialId: string;
  readonly signCount: number;
}

withBrowser(`a login with a passkey${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let example: Awaited<ReturnType<typeof startExample>>;
  let chromium: Chromium;
  let tab: Tab;
  let tools: DevTools;
  let authenticatorId: string;

  beforeAll(async () => {
    example = await startExample();
    chromium = await Chromium.launch();
  });
  afterAll(async () => {
    await chromium?.close();
    await example?.[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    ({ tab } = await chromium.visit(example.origin));
    tools = await tab.context().newCDPSession(tab);
    await tools.send("WebAuthn.enable");
    const added = await tools.send("WebAuthn.addVirtualAuthenticator", { options: DEVICE });
    ({ authenticatorId } = added as { authenticatorId: string });
  });

  /** Presses a button, and returns the text that the page shows then. */
  async function press(button: "register" | "login"): Promise<string> {
    await tab.evaluate('document.getElementById("result").value = ""');
    await tab.locator(`#${button}`).click();
    const shown = `new Promise((resolve) => {
      const result = document.getElementById("result");
      const look = () => (result.value === "" ? requestAnimationFrame(look) : resolve(result.value));
      look();
    })`;
    return String(await tab.evaluate(shown));
  }

  async function register(name: string): Promise<void> {
    await tab.locator("#user").fill(name);
    expect(await press("register")).toBe(`Hello ${name}`);
  }

  const statusOf = (target: string) => tab.evaluate(`fetch("${target}").then(({ status }) => status)`);
  const forget = () => tools.send("Network.clearBrowserCookies");
  const credentials = async () =>
    ((await tools.send("WebAuthn.getCredentials", { authenticatorId })) as { credentials: Credential[] }).credentials;

  it("creates an account, and logs in without a name in a browser that has no session", async () => {
    await forget();
    expect(await statusOf("/me")).toBe(401);
    await register("ada");
    expect(await statusOf("/me")).toBe(200);
    await forget();
    expect(await statusOf("/me")).toBe(401);
    expect(await press("login")).toBe("Hello ada");
    expect(await statusOf("/me")).toBe(200);
  });

  it("rejects a response that is sent again, and one to another challenge", async () => {
    await register("ada");
    const result = await tab.evaluate(`(async () => {
      const post = (path, body) => fetch(path, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
      });
      const options = async () => (await post("/login/options", {})).json();
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await options());
      const recorded = (await navigator.credentials.get({ publicKey })).toJSON();
      const statuses = [(await post("/login", recorded)).status, (await post("/login", recorded)).status];
      await options();
      return [...statuses, (await post("/login", recorded)).status];
    })()`);
    expect(result).toEqual([200, 400, 401]);
  });

  it("rejects a device that did not verify its user", async () => {
    await register("ada");
    await tools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    expect(await press("login")).toMatch(/not allowed|timed out/);
  });

  it("rejects a copy of a device, whose counter is behind", async () => {
    await register("ada");
    const [copy] = await credentials();
    expect(await press("login")).toBe("Hello ada");
    expect(await press("login")).toBe("Hello ada");
    await tools.send("WebAuthn.removeCredential", { authenticatorId, credentialId: copy?.credentialId });
    await tools.send("WebAuthn.addCredential", { authenticatorId, credential: copy });
    expect(await press("login")).toBe("Unknown passkey");
  });

  it("adds a passkey to the account that is logged in, and not a second one of the same device", async () => {
    await register("eve");
    expect(await press("register")).toMatch(/previously registered|already registered/);
    expect(await credentials()).toHaveLength(1);
  });

  it("is not possible on another host, which a phishing page would have", async () => {
    await register("ada");
    const { tab: other } = await chromium.visit(`http://127.0.0.1:${example.port}`);
    const error = await other.evaluate(`(async () => {
      const response = await fetch("/login/options", { method: "POST" });
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await response.json());
      return navigator.credentials.get({ publicKey }).catch(({ name }) => name);
    })()`);
    expect(error).toBe("SecurityError");
  });
});
