import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { get as getOverHTTP, type IncomingMessage } from "node:http";
import { get as getOverTLS } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { HTTPScope } from "../../../src/protocol/asgi.js";
import { serve } from "../../../src/node.js";
import { explained } from "../../../src/platforms/node/listen.js";
import { httpApp, respond, served } from "./_http.js";
import { ServerProcess } from "./_process.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tsgi-listen-"));
});
afterAll(() => rm(folder, { recursive: true }));

function recorder(scopes: HTTPScope[]) {
  return httpApp(async (scope, _receive, send) => {
    scopes.push(scope);
    await respond(send, 200, "hello");
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  return Buffer.concat(await response.toArray()).toString();
}

function getFrom(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    getOverHTTP({ socketPath: path, path: "/", headers: { host: "a" } }, resolve).on("error", reject);
  });
}

describe("a Unix socket", () => {
  it("is listened on, named in the url, and removed at the end", async () => {
    const path = join(folder, "one.sock");
    const scopes: HTTPScope[] = [];
    {
      await using server = await served(recorder(scopes), { path });
      expect(server.url).toBe(`unix:${path}`);
      expect(await textOf(await getFrom(path))).toBe("hello");
      expect(scopes[0]).toMatchObject({ client: null, server: [path, null] });
    }
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("of a process that exited is replaced", async () => {
    const path = join(folder, "left.sock");
    {
      await using dead = await ServerProcess.start(
        `await serve(async () => {}, { path: ${JSON.stringify(path)} }); say("listens");`,
      );
      await dead.said(/listens/);
    }
    await stat(path);
    await using server = await served(recorder([]), { path });
    expect(await textOf(await getFrom(path))).toBe("hello");
    expect(server.url).toBe(`unix:${path}`);
  });

  it("does not take the place of a file", async () => {
    const path = join(folder, "app.ts");
    await writeFile(path, "precious");
    await expect(serve(recorder([]), { path, signals: false })).rejects.toThrow("choose another path");
    expect(await readFile(path, "utf8")).toBe("precious");
  });

  it("of a running server is not replaced", async () => {
    const path = join(folder, "taken.sock");
    await using taken = createServer();
    await new Promise<void>((resolve) => taken.listen(path, resolve));
    await expect(serve(recorder([]), { path, signals: false })).rejects.toThrow(
      `The socket ${path} is in use. Stop the program that has it, or choose another path.`,
    );
  });
});

describe("an address that cannot be listened on", () => {
  it("of another machine is reported as such", async () => {
    await expect(serve(recorder([]), { host: "192.0.2.1", port: 0, signals: false })).rejects.toThrow(
      "Port 0 on 192.0.2.1: this is not an address of this machine. Listen on 127.0.0.1, 0.0.0.0 or one that it has.",
    );
  });

  it("in a folder that does not exist is reported with that reason", async () => {
    const path = join(folder, "no/such.sock");
    await expect(serve(recorder([]), { path, signals: false })).rejects.toMatchObject({
      name: "ServerStartError",
      code: "EACCES",
      message:
        `The socket ${path} cannot be created: its folder does not exist, or this user has no permission to write to it. ` +
        "Create the folder, or choose another path.",
    });
  });

  it("as a Unix socket on Windows is reported with a named pipe", () => {
    const denied = Object.assign(new Error("denied"), { code: "EACCES" });
    expect(explained(denied, { path: "app.sock" }, "win32").message).toBe(
      String.raw`The socket app.sock cannot be created. Windows has named pipes instead of Unix sockets: write a path such as \\.\pipe\my-app.`,
    );
  });
});

describe("TLS", () => {
  it("is enabled if a key and a certificate are set", async () => {
    const scopes: HTTPScope[] = [];
    const cert = fixture("localhost.cert.pem");
    await using server = await served(recorder(scopes), { tls: { cert, key: fixture("localhost.key.pem") } });
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      getOverTLS(server.url, { ca: cert, agent: false }, resolve).on("error", reject);
    });
    expect(await textOf(response)).toBe("hello");
    expect(scopes[0]).toMatchObject({ scheme: "https", client: ["127.0.0.1", expect.any(Number)] });
  });
});

describe("a wildcard host", () => {
  it.each([["0.0.0.0", "http://127.0.0.1"]])("%s is named by an address that can be called: %s", async (host, url) => {
    await using server = await served(recorder([]), { host });
    expect(server.url.slice(0, url.length)).toBe(url);
    expect(await (await fetch(server.url)).text()).toBe("hello");
  });
});
