import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "@jest/globals";
import type { SendMessage } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, pair, refusesConnections, respond, served, Wire } from "./_http.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const hello = httpApp((_scope, _receive, send) => respond(send, 200, "hello"));

function start(contentType: string): SendMessage {
  return { type: "http.response.start", status: 200, headers: [pair("Content-Type", contentType)] };
}

const STEPS = [
  "server is closing",
  "first request is sent",
  "second request is sent",
  "second request is read",
  "third client has connected",
] as const;

/**
 * Three clients in another thread, which the event loop of the server does not serve. The first two are connected, and the
 * third connects while the server is blocked. It reports the response to the third.
 */
const CLIENTS = `
  const { connect } = require("node:net");
  const { once } = require("node:events");
  const { parentPort, workerData: { port, flags } } = require("node:worker_threads");
  const reach = (step) => { Atomics.store(flags, step, 1); Atomics.notify(flags, step); };
  const open = async () => {
    const socket = connect(port, "127.0.0.1").on("error", ({ code }) => parentPort.postMessage(code));
    await once(socket, "connect");
    return socket;
  };
  const ask = (socket, path) => new Promise((resolve) => socket.write("GET " + path + " HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", resolve));
  void (async () => {
    const [first, second] = [await open(), await open()];
    await ask(first, "/");
    await once(first, "data");
    await ask(second, "/");
    await once(second, "data");
    parentPort.postMessage("ready");
    Atomics.wait(flags, 0, 0, 10000);
    await ask(first, "/first");
    reach(1);
    await ask(second, "/second");
    reach(2);
    Atomics.wait(flags, 3, 0, 10000);
    const third = await open();
    await ask(third, "/third");
    reach(4);
    parentPort.postMessage(String((await once(third, "data"))[0]));
    for (const socket of [first, second, third]) socket.destroy();
  })();
`;

describe("a server that stops", () => {
  it("accepts a client that connects again after the last response on its connection, and then closes the listener", async () => {
    await using server = await served(hello);
    await using first = new Wire(server.port);
    await first.write(GET).until(/hello$/);
    const closed = server.close();
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    await using second = new Wire(server.port);
    expect(await second.write(GET).closed).toMatch(/connection: close[^]*hello$/i);
    await closed;
    await refusesConnections(server.port);
  });

  it("still responds to a request that was in transit on an idle connection, and then closes it", async () => {
    await using server = await served(hello);
    await using idle = new Wire(server.port);
    await idle.write(GET).until(/hello$/);
    const closed = server.close();
    await refusesConnections(server.port);
    const answers = await idle.write(GET).closed;
    expect(answers).toMatch(/keep-alive[^]*hello[^]*connection: close[^]*hello$/i);
    await closed;
  });

  it("closes connections that end while it begins to stop, before it closes idle ones", async () => {
    await using server = await served(hello);
    await using idle = new Wire(server.port);
    await idle.write(GET).until(/hello$/);
    const closed = server.close();
    const ending = Array.from({ length: 10 }, () => new Wire(server.port));
    const order: string[] = [];
    const observed = [idle, ...ending].map((wire) =>
      wire.closed.then(() => order.push(wire === idle ? "idle" : "ending")),
    );
    for (const { socket } of ending) socket.end();
    await Promise.all(observed);
    await closed;
    expect(order).toEqual([...ending.map(() => "ending"), "idle"]);
  });

  it("reads what idle connections have sent while its event loop was busy, before it closes them", async () => {
    await using server = await served(hello, { shutdownTimeoutMs: 1_000 });
    await using idle = new Wire(server.port);
    await idle.write(GET).until(/hello$/);
    const closed = server.close();
    await refusesConnections(server.port);
    idle.write(GET);
    const until = performance.now() + 200; // longer than idle connections stay open
    while (performance.now() < until);
    expect(await idle.closed).toMatch(/hello[^]*connection: close[^]*hello$/i);
    await closed;
  });

  it("responds to a client that connects while requests keep its event loop busy, before it stops to listen", async () => {
    const flags = new Int32Array(new SharedArrayBuffer(4 * STEPS.length));
    const reach = (step: (typeof STEPS)[number]) => {
      Atomics.store(flags, STEPS.indexOf(step), 1);
      Atomics.notify(flags, STEPS.indexOf(step));
    };
    const block = (step: (typeof STEPS)[number]) => void Atomics.wait(flags, STEPS.indexOf(step), 0, 10_000);
    await using server = await served(
      httpApp((scope, _receive, send) => {
        if (scope.path === "/first") block("second request is sent");
        if (scope.path === "/second") {
          reach("second request is read");
          block("third client has connected");
        }
        return respond(send, 200, "hello");
      }),
    );
    const clients = new Worker(CLIENTS, { eval: true, workerData: { port: server.port, flags } });
    await once(clients, "message");
    const outcome = once(clients, "message");
    const closed = server.close();
    reach("server is closing");
    block("first request is sent");
    expect(await outcome).toEqual([expect.stringMatching(/^HTTP\/1.1 200 [^]*hello$/)]);
    await closed;
  });

  it("responds to every request of clients that continue until a response closes the connection", async () => {
    await using server = await served(hello);
    let answered = 0;
    /** Sends one request after the other; rejects when one is lost. */
    const client = async () => {
      await using wire = new Wire(server.port);
      while (!/connection: close/i.test(wire.received)) {
        wire.received = "";
        await wire.write(GET).until(/hello$/);
        if (++answered === 500) {
          void server.close();
        }
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, client));
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(answered).toBeGreaterThanOrEqual(500);
  });

  it("lingers for a part of the time that it has, so that idle connections do not use it up", async () => {
    await using server = await served(hello, { shutdownTimeoutMs: 400 });
    await using idle = new Wire(server.port);
    await idle.write(GET).until(/hello$/);
    await expect(server.close()).resolves.toBeUndefined();
  });

  it("does not wait for connections that never spoke, nor for half a head", async () => {
    await using server = await served(hello);
    await using silent = new Wire(server.port);
    await using half = new Wire(server.port);
    await new Promise((resolve) => half.socket.write("GET / HTTP/1.1\r\nHost: a\r\nX", resolve));
    await server.close();
    expect([await silent.closed, await half.closed]).toEqual(["", ""]);
  });

  it("does not wait for a TLS handshake that does not begin", async () => {
    await using server = await served(hello, {
      tls: { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") },
      shutdownTimeoutMs: 4000,
    });
    await using silent = new Wire(server.port);
    await once(silent.socket, "connect");
    await server.close();
    expect(await silent.closed).toBe("");
  });

  it("lets a download finish", async () => {
    const begun = new Deferred<void>();
    const release = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send(start("application/octet-stream"));
        await send({ type: "http.response.body", body: Buffer.from("one"), more_body: true });
        begun.resolve();
        await release.promise;
        await send({ type: "http.response.body", body: Buffer.from("two") });
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(GET);
    await begun.promise;
    const closed = server.close();
    release.resolve();
    expect(await wire.closed).toMatch(/\r\n(?:3\r\none\r\n3\r\ntwo|6\r\nonetwo)\r\n0\r\n\r\n$/);
    await closed;
  });

  it("calls the shutdown hook once, even if it is closed several times", async () => {
    const events: string[] = [];
    await using server = await served(async (scope, receive, send) => {
      if (scope.type === "lifespan") {
        await receive();
        await send({ type: "lifespan.startup.complete" });
        events.push((await receive()).type);
        await send({ type: "lifespan.shutdown.complete" });
      }
    });
    await Promise.all([server.close(), server.close()]);
    await server.close();
    expect(events).toEqual(["lifespan.shutdown"]);
  });

  it("rejects with the error of the shutdown hook", async () => {
    await using server = await served(async (scope, receive, send) => {
      if (scope.type === "lifespan") {
        await receive();
        await send({ type: "lifespan.startup.complete" });
        await receive();
        await send({ type: "lifespan.shutdown.failed", message: "disk gone" });
      }
    });
    await expect(server.close()).rejects.toThrow("The application's shutdown failed: disk gone");
  });

  it("reports a shutdown hook that does not end", async () => {
    await using server = await served(
      async (_scope, receive, send) => {
        await receive();
        await send({ type: "lifespan.startup.complete" });
        await new Promise(() => {});
      },
      { shutdownTimeoutMs: 20 },
    );
    await expect(server.close()).rejects.toMatchObject({ running: ["lifespan.shutdown"] });
  });
});
