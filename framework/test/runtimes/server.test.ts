/** The options, the addresses and the end of a server under each runtime. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectOverHTTP2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectSecurely } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { refusesConnections, Wire } from "../../core/test/platforms/node/_http.js";
import { HOST } from "../../core/test/platforms/node/_http1-table.js";
import { onEach, Program, type RemoteServer } from "./_program.js";

const fixture = (name: string) =>
  readFileSync(join(import.meta.dirname, "../../core/test/platforms/node/fixtures", name), "utf8");
const tls = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") };
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
const post = (path: string, length: number) => `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\n\r\n`;
const contentOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4);

onEach("a server on %s", (...runtime) => {
  let program: Program;
  let server: RemoteServer;
  beforeAll(async () => {
    program = await Program.start(runtime);
    server = await program.serve();
  });
  afterAll(() => program[Symbol.asyncDispose]());

  describe("a limit", () => {
    it.each([
      ["headerCount", { headerCount: 2 }, `GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\n\r\n`, 431],
      ["headerBytes", { headerBytes: 50 }, `GET / HTTP/1.1\r\nHost: a\r\nA: ${"b".repeat(50)}\r\n\r\n`, 431],
      ["targetBytes", { targetBytes: 10 }, `GET /${"a".repeat(10)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
    ])("holds: %s", async (_name, connectionLimits, request, status) => {
      await using limited = await program.serve({ connectionLimits });
      await using wire = new Wire(limited.port);
      expect(await wire.write(request).closed).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    });

    it("is enforced: one more connection gets 503", async () => {
      await using limited = await program.serve({ connectionLimits: { connections: 1 } });
      await using first = new Wire(limited.port);
      await first.write(get("/next")).until(/next$/);
      await using second = new Wire(limited.port);
      expect(await second.closed).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/);
      await first.write(get("/next")).until(/next[^]*next$/);
    });

    it.each([
      ["headersMs", { headersMs: 30 }, "GET / HTTP/1.1\r\nHost", /^HTTP\/1\.1 408 /],
      ["requestMs", { requestMs: 30 }, `${post("/count", 10)}half`, /^HTTP\/1\.1 408 /],
      ["keepAliveMs", { keepAliveMs: 30 }, get("/next"), /next$/],
    ])("holds: %s", async (_name, timeouts, request, answer) => {
      await using limited = await program.serve({ timeouts });
      await using wire = new Wire(limited.port);
      expect(await wire.write(request).closed).toMatch(answer);
    });
  });

  describe("a server that stops", () => {
    it("responds to running requests and those in transit, ends event streams with an id, cuts others, and closes", async () => {
      const stopping = await program.serve();
      await using idle = new Wire(stopping.port);
      await using silent = new Wire(stopping.port);
      await using running = new Wire(stopping.port);
      await using events = new Wire(stopping.port);
      await using resumable = new Wire(stopping.port);
      await events.write(get("/events")).until(/data: 1/);
      await resumable.write(get("/events/with-id")).until(/data: 1/);
      await idle.write(get("/next")).until(/next$/);
      running.write(get("/held"));
      await program.reported("held");
      const closed = stopping.close();
      await refusesConnections(stopping.port);
      expect(await idle.write(get("/next")).closed).toMatch(/next[^]*connection: close\r\n\r\nnext$/i);
      await program.release();
      expect(await running.closed).toMatch(/connection: close\r\n\r\n<0>$/i);
      expect(await events.closed).toMatch(/data: 1\n\n\r\n$/);
      expect(await resumable.closed).toMatch(/data: 1\n\n\r\n0\r\n\r\n$/);
      expect(await closed).toEqual({});
      expect(await silent.closed).toBe("");
    });

    it("is stopped forcibly at its limit with 503, and logs the running requests", async () => {
      const stuck = await program.serve({ shutdownTimeoutMs: 50 });
      await using wire = new Wire(stuck.port);
      wire.write(get("/held"));
      await program.reported("held");
      expect(await stuck.close()).toMatchObject({
        error: { name: "ShutdownTimeoutError", message: expect.stringContaining("GET /held") },
      });
      expect(await wire.closed).toMatch(/^HTTP\/1\.1 503 /);
      await program.release();
    });
  });

  describe("an address", () => {
    it("causes an error with the reason if it is in use", async () => {
      await expect(program.serve({ port: server.port })).rejects.toMatchObject({
        code: "EADDRINUSE",
        message: expect.stringContaining("choose another port"),
      });
    });

    it("can be a Unix socket, even one of a process that exited", async () => {
      const folder = await mkdtemp(join(tmpdir(), "tsgi-unix-"));
      try {
        const path = join(folder, "app.sock");
        for (let round = 0; round < 2; round++) {
          await using own = await Program.start(runtime);
          const unix = await own.serve({ path });
          expect(unix.url).toBe(`unix:${path}`);
          await using wire = new Wire(connect(path));
          expect(await wire.write(get("/next")).until(/next$/)).toMatch(/^HTTP\/1\.1 200 /);
          own.child.kill("SIGKILL");
          await own.ended;
        }
        await rm(path);
        await writeFile(path, "precious");
        await expect(program.serve({ path })).rejects.toThrow("choose another path");
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it("with a key and a certificate speaks TLS", async () => {
      await using secure = await program.serve({ tls });
      expect(secure.url).toMatch(/^https:/);
      await using wire = new Wire(connectSecurely({ port: secure.port, host: "127.0.0.1", ca: tls.cert }));
      const answer = await wire.write(`${post("/count", 200_000)}${"a".repeat(200_000)}`).until(/<200000>$/);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      wire.received = "";
      expect(JSON.parse(contentOf(await wire.write(get("/")).until(/\}$/)))).toMatchObject({ scheme: "https" });
      wire.received = "";
      expect(await wire.write(get("  /")).closed).toMatch(/^HTTP\/1\.1 400 /);
      await using plain = new Wire(secure.port);
      expect(await plain.write(get("/")).closed).not.toMatch(/200 OK/);
    });
  });

  it.each([
    ["TLS", { tls }],
    ["prior knowledge", {}],
  ])("supports HTTP/2 by %s in addition to HTTP/1.1", async (_how, options) => {
    await using both = await program.serve({ http2: true, ...options });
    const client = connectOverHTTP2(both.url, { ca: tls.cert });
    client.on("error", () => {});
    try {
      const upload = client.request({ ":method": "POST", ":path": "/count" });
      upload.end(Buffer.alloc(200_000));
      const [[headers], body] = (await Promise.all([once(upload, "response"), text(upload)])) as [[object], string];
      expect([headers, body]).toEqual([expect.objectContaining({ ":status": 200 }), "<200000>"]);
      expect((await text(client.request({ ":path": "/download?300000" }))).length).toBe(300_000);
    } finally {
      client.destroy();
    }
    const socket = "tls" in options ? connectSecurely({ port: both.port, host: "127.0.0.1", ca: tls.cert }) : both.port;
    await using wire = new Wire(socket);
    expect(await wire.write(get("/next")).until(/next$/)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it("an App validates, and describes itself", async () => {
    await using api = await program.serve({}, "api");
    expect(await (await fetch(`${api.url}/users/7`)).json()).toEqual({ id: 7 });
    expect((await fetch(`${api.url}/users/seven`)).status).toBe(422);
    const headers = { "content-type": "application/json" };
    const created = await fetch(`${api.url}/users`, { method: "POST", headers, body: '{"name":"Ada","age":36,"x":1}' });
    expect([created.status, await created.json()]).toEqual([201, { name: "Ada", age: 36 }]);
    expect(await (await fetch(`${api.url}/openapi.json`)).json()).toMatchObject({ info: { title: "Runtimes" } });
    expect((await fetch(`${api.url}/docs`)).status).toBe(200);
  });

  it("SIGTERM lets the running request finish and ends the program with status 0", async () => {
    await using own = await Program.start(runtime);
    const stopping = await own.serve({ signals: true });
    await using wire = new Wire(stopping.port);
    wire.write(get("/held"));
    await own.reported("held");
    own.child.kill("SIGTERM");
    await refusesConnections(stopping.port);
    await own.release();
    expect(await wire.closed).toMatch(/<0>$/);
    expect(await own.ended).toBe(0);
  });
  it("workers share a port, continue after one exits, restart on SIGHUP, and exit with status 0", async () => {
    await using own = await Program.run(runtime, "workers.mjs");
    const ask = async () => {
      await using wire = new Wire(Number(new URL(own.url).port));
      const answer = await wire.write(get("/").replace(HOST, `${HOST}Connection: close\r\n`)).closed;
      return Number(/pid (\d+)$/.exec(answer)?.[1]);
    };
    const dead = await ask();
    process.kill(dead, "SIGKILL");
    let next = dead;
    while (Number.isNaN(next) || next === dead) next = await ask();
    own.child.kill("SIGHUP");
    await own.said("All workers are restarted");
    expect([dead, next]).not.toContain(await ask());
    own.child.kill("SIGTERM");
    expect(await own.ended).toBe(0);
    expect(own.stderr).toContain("A worker ended");
  });
});
