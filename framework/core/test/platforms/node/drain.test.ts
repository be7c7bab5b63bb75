import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage, SendMessage } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, pair, refusesConnections, respond, served, Wire } from "./_http.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const hello = httpApp((_scope, _receive, send) => respond(send, 200, "hello"));

function start(contentType: string): SendMessage {
  return { type: "http.response.start", status: 200, headers: [pair("Content-Type", contentType)] };
}

describe("a server that stops", () => {
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

  it("reports a disconnect to an event stream, and ends it gracefully", async () => {
    const told = new Deferred<ReceiveMessage>();
    const begun = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        await receive();
        await send(start("text/event-stream; charset=utf-8"));
        await send({ type: "http.response.body", body: Buffer.from("data: 1\n\n"), more_body: true });
        begun.resolve();
        told.resolve(await receive());
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(GET);
    await begun.promise;
    await server.close();
    expect(await told.promise).toEqual({ type: "http.disconnect" });
    expect(await wire.closed).toMatch(/data: 1\n\n\r\n0\r\n\r\n$/);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("ends an event stream that begins while it stops", async () => {
    const [asked, stopping] = [new Deferred<void>(), new Deferred<void>()];
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        await receive();
        asked.resolve();
        await stopping.promise;
        await send(start("text/event-stream"));
        await send({ type: "http.response.body", body: Buffer.from("data: 1\n\n"), more_body: true });
        told.resolve(await receive());
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(GET);
    await asked.promise;
    const closed = server.close();
    await refusesConnections(server.port);
    stopping.resolve();
    expect(await told.promise).toEqual({ type: "http.disconnect" });
    expect(await wire.closed).toMatch(/data: 1\n\n\r\n0\r\n\r\n$/);
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
