import { readFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Deferred } from "../../../src/common/promises.js";
import { cutOff, httpApp, readBody, respond, served, Wire } from "./_http.js";

const hello = httpApp((_scope, _receive, send) => respond(send, 200, "hello"));
const read = httpApp(async (_scope, receive, send) => respond(send, 200, (await readBody(receive)).toString()));
const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));

/** The status of a request over TLS; 0 if the server has not yet detected that the places are free. */
function statusOverTLS(port: number): Promise<number> {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", () => resolve(0));
  });
}

describe("connectionLimits", () => {
  it.each([
    ["headerCount", { headerCount: 2 }, `GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\n\r\n`, 431],
    ["headerBytes", { headerBytes: 50 }, `GET / HTTP/1.1\r\nHost: a\r\nA: ${"b".repeat(50)}\r\n\r\n`, 431],
    ["targetBytes", { targetBytes: 10 }, `GET /${"a".repeat(10)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
  ])("%s is taken from the options", async (_name, connectionLimits, request, status) => {
    await using server = await served(hello, { connectionLimits });
    await using wire = new Wire(server.port);
    expect(await wire.write(request).closed).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("headerBytes beyond the default lets longer heads in", async () => {
    await using server = await served(hello, { connectionLimits: { headerBytes: 100_000 } });
    await using wire = new Wire(server.port);
    const answer = await wire.write(`GET / HTTP/1.1\r\nHost: a\r\nA: ${"b".repeat(90_000)}\r\n\r\n`).until(/\r\n\r\n/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("headerCount beyond the thousand at which node:http drops headers gets them all through", async () => {
    await using server = await served(read, { connectionLimits: { headerCount: 3000, headerBytes: 100_000 } });
    await using wire = new Wire(server.port);
    wire.write(`POST / HTTP/1.1\r\nHost: a\r\n${"A: b\r\n".repeat(2500)}Content-Length: 4\r\n\r\nbody`);
    expect(await wire.until(/body$/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([false, true])("connections counts over TLS before the handshake: http2 %s", async (http2) => {
    const tls = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") };
    await using server = await served(hello, {
      connectionLimits: { connections: 3 },
      timeouts: { headersMs: 2000 },
      tls,
      http2,
    });
    const silent = Array.from({ length: 12 }, () => new Wire(server.port));
    const cut = await Promise.all(silent.slice(3).map(({ closed }) => closed));
    expect(cut).toEqual(Array(9).fill(""));
    expect(silent.slice(0, 3).map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
    expect(server.logger.at("warn").map(({ message }) => message)).toEqual([
      "More connections than allowed: the latest are closed.",
    ]);
    for (const { socket } of silent) socket.destroy();
    await Promise.all(silent.map(({ closed }) => closed));
    for (let status = 0; status !== 200;) status = await statusOverTLS(server.port);
  });

  it("connections responds to one more with 503, closes it, and logs that once", async () => {
    await using server = await served(hello, { connectionLimits: { connections: 1 } });
    await using first = new Wire(server.port);
    await first.write(GET).until(/hello$/);
    await using second = new Wire(server.port);
    expect(await second.closed).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/);
    await using third = new Wire(server.port);
    expect(await third.closed).toMatch(/^HTTP\/1\.1 503 /);
    await first.write(GET).until(/hello[^]*hello$/);
    expect(server.logger.at("warn")).toHaveLength(1);
  });

  it("connections closes a rejected client, even if it does not end its side", async () => {
    await using server = await served(hello, { connectionLimits: { connections: 1 }, timeouts: { headersMs: 100 } });
    await using first = new Wire(server.port);
    await first.write(GET).until(/hello$/);
    expect(await cutOff(server.port, "")).toMatch(/EPIPE|ECONNRESET/);
  });

  it("connections does not count a disconnected client", async () => {
    await using server = await served(hello, { connectionLimits: { connections: 1 } });
    for (let index = 0; index < 3; index++) {
      await using wire = new Wire(server.port);
      expect(await wire.write(GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")).closed).toMatch(/hello$/);
    }
  });
});

describe("timeouts", () => {
  it("headersMs closes a silent connection", async () => {
    await using server = await served(hello, { timeouts: { headersMs: 30 } });
    await using wire = new Wire(server.port);
    expect(await wire.closed).toBe("");
  });

  it.each([
    ["in the first line", "GET / HT"],
    ["in a header line", "GET / HTTP/1.1\r\nHost: a\r\nX"],
  ])("headersMs responds with 408 to a head that stops %s", async (_where, head) => {
    await using server = await served(hello, { timeouts: { headersMs: 30 } });
    await using wire = new Wire(server.port);
    expect(await wire.write(head).closed).toMatch(/^HTTP\/1\.1 408 [^]*\{"detail":"Request Timeout"\}$/);
  });

  it("headersMs applies to a connection that was idle for a while", async () => {
    await using server = await served(hello, { timeouts: { headersMs: 30 } });
    await using wire = new Wire(server.port);
    await wire.write(GET).until(/hello$/);
    await using silent = new Wire(server.port);
    await silent.closed; // shows that the time has passed
    expect(await wire.write("GET / HT").closed).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 408 /);
  });

  it("requestMs responds with 408 to a body that stops, and reports a disconnect to the application", async () => {
    const told = new Deferred<string>();
    await using server = await served(
      httpApp(async (_scope, receive) => {
        await readBody(receive).catch((error: unknown) => told.resolve(String(error)));
      }),
      { timeouts: { requestMs: 30 } },
    );
    await using wire = new Wire(server.port);
    wire.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 408 /);
    expect(await told.promise).toContain("disconnected after 4 bytes");
    expect(server.logger.at("error")).toEqual([]);
  });

  it("requestMs does not limit how long the application takes", async () => {
    const release = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await release.promise;
        await respond(send, 200, "slow");
      }),
      { timeouts: { headersMs: 20, requestMs: 20 } },
    );
    await using late = new Wire(server.port);
    await using wire = new Wire(server.port);
    wire.write(GET);
    await late.closed; // the silent connection shows that the time has passed
    release.resolve();
    expect(await wire.until(/slow$/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ["", GET, /hello$/],
    [" behind a question to the server", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", /^HTTP\/1\.1 204 /],
  ])("keepAliveMs ends a connection that has no more requests%s", async (_which, request, answer) => {
    await using server = await served(hello, { timeouts: { keepAliveMs: 1 } });
    await using wire = new Wire(server.port);
    expect(await wire.write(request).closed).toMatch(answer);
  });

  it("keepAliveMs does not close a connection with a running request", async () => {
    const release = new Deferred<void>();
    await using server = await served(
      httpApp(async ({ path }, _receive, send) => {
        if (path === "/slow") await release.promise;
        await respond(send, 200, "done");
      }),
      { timeouts: { keepAliveMs: 20 } },
    );
    await using slow = new Wire(server.port);
    await using idle = new Wire(server.port);
    slow.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await idle.write(GET).closed; // shows that the time has passed
    release.resolve();
    expect(await slow.until(/done$/)).toMatch(/^HTTP\/1\.1 200 /);
    await slow.closed;
  });

  it("keepAliveMs counts from the last request", async () => {
    await using server = await served(hello, { timeouts: { headersMs: 30, keepAliveMs: 400 } });
    await using first = new Wire(server.port);
    await using second = new Wire(server.port);
    await Promise.all([first, second].map((wire) => wire.write(GET).until(/hello$/)));
    await using silent = new Wire(server.port);
    await silent.closed; // shows that both are idle for a while
    first.received = "";
    await first.write(GET).until(/hello$/);
    const closed = [first, second].map((wire) => wire.closed.then(() => wire));
    expect(await Promise.race(closed)).toBe(second);
    expect(await first.closed).toMatch(/hello$/);
  });

  it.each([
    ["the first", ""],
    ["a later", GET],
  ])("keepAliveMs does not close a connection while %s request is in transit", async (_which, before) => {
    await using server = await served(hello, { timeouts: { keepAliveMs: 20 } });
    await using slow = new Wire(server.port);
    if (before !== "") await slow.write(before).until(/hello$/);
    slow.write("GET / HTTP/1.1\r\nHost");
    await using idle = new Wire(server.port);
    await idle.write(GET).closed; // shows that the time has passed
    slow.received = "";
    expect(await slow.write(": a\r\n\r\n").until(/hello$/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("do not count the time for which the process did not read", async () => {
    const others: Wire[] = [];
    await using server = await served(
      httpApp(async (scope, _receive, send) => {
        if (scope.path === "/block") {
          for (const other of others) other.write("GET /sent HTTP/1.1\r\nHost: a\r\n\r\n");
          const end = performance.now() + 700;
          while (performance.now() < end);
        }
        await respond(send, 200, `<${scope.path}>`);
      }),
      { timeouts: { headersMs: 200, requestMs: 200, keepAliveMs: 200 } },
    );
    await using fresh = new Wire(server.port);
    await using kept = new Wire(server.port);
    await kept.write("GET /kept HTTP/1.1\r\nHost: a\r\n\r\n").until(/<\/kept>$/);
    others.push(fresh, kept);
    await using wire = new Wire(server.port);
    await wire.write("GET /block HTTP/1.1\r\nHost: a\r\n\r\n").until(/<\/block>$/);
    for (const other of others) expect(await other.until(/<\/sent>$/)).toContain("200 OK");
  });

  it("of 0 wait indefinitely", async () => {
    await using server = await served(read, { timeouts: { headersMs: 0, requestMs: 0, keepAliveMs: 0 } });
    await using wire = new Wire(server.port);
    expect(await wire.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").until(/hi$/)).toMatch(/ 200 /);
  });
});
