import { createServer } from "node:net";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, Scope } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { ConfigurationError } from "../../../src/common/exceptions.js";
import { serve, ServerStartError, ShutdownTimeoutError, toNodeHandler } from "../../../src/node.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { httpApp, MemoryLogger, refusesConnections, respond, served, Wire } from "./_http.js";

const hello = httpApp((_scope, _receive, send) => respond(send, 200, "hello"));

/** An application that records the messages that it receives. */
function recorder(events: string[], startUp: "complete" | "failed" = "complete"): ASGIApp {
  return async (scope, receive, send) => {
    if (scope.type !== "lifespan") {
      events.push(scope.type);
      return respond(send, 200, JSON.stringify(scope.state));
    }
    const message = await receive();
    events.push(message.type);
    if (startUp === "failed") {
      await send({ type: "lifespan.startup.failed", message: "no database" });
      return;
    }
    if (scope.state) {
      scope.state.pool = "ready";
    }
    await send({ type: "lifespan.startup.complete" });
    events.push((await receive()).type);
    await send({ type: "lifespan.shutdown.complete" });
  };
}

describe("serve", () => {
  it("runs startup before the port opens and shutdown after the last response", async () => {
    const events: string[] = [];
    {
      await using server = await served(recorder(events));
      expect(events).toEqual(["lifespan.startup"]);
      await fetch(server.url);
    }
    expect(events).toEqual(["lifespan.startup", "http", "lifespan.shutdown"]);
  });

  it("returns only the address, the loop and a `close` method, which can be destructured", async () => {
    const events: string[] = [];
    const { close, ...place } = await serve(recorder(events), { port: 0, signals: false, logger: new MemoryLogger() });
    expect(place).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      loop: "libuv",
      [Symbol.asyncDispose]: close,
    });
    await close();
    expect(events).toEqual(["lifespan.startup", "lifespan.shutdown"]);
  });

  it("accepts only an application, as toNodeHandler and TestClient do", async () => {
    const module = { app: recorder([]) } as unknown as ASGIApp;
    await expect(serve(module)).rejects.toThrow(
      "serve() takes an ASGI application, which is a function, not an object.",
    );
    expect(() => toNodeHandler(module)).toThrow(ConfigurationError);
    await expect(TestClient.open(module)).rejects.toThrow(ConfigurationError);
  });

  it("closes at the end of the block that uses it", async () => {
    const events: string[] = [];
    {
      await using server = await serve(recorder(events), { port: 0, signals: false, logger: new MemoryLogger() });
      await fetch(server.url);
    }
    expect(events).toEqual(["lifespan.startup", "http", "lifespan.shutdown"]);
  });

  it("passes a shallow copy of the lifespan's state to each request", async () => {
    const states: unknown[] = [];
    const lifespan = recorder([]);
    await using server = await served(async (scope, receive, send) => {
      if (scope.type === "http") {
        states.push({ ...scope.state });
        (scope.state as Record<string, unknown>).pool = "changed";
      }
      return lifespan(scope, receive, send);
    });
    await fetch(server.url);
    await fetch(server.url);
    expect(states).toEqual([{ pool: "ready" }, { pool: "ready" }]);
  });

  it("serves an application that throws on the lifespan scope as one without lifespan", async () => {
    await using server = await served(async (scope: Scope, _receive, send) => {
      if (scope.type !== "http") {
        throw new TypeError("only http");
      }
      await respond(send, 200, "served");
    });
    expect(await (await fetch(server.url)).text()).toBe("served");
    expect(server.logger.at("error")).toEqual([]);
  });

  it("rejects with the reason and opens no port when startup fails", async () => {
    const events: string[] = [];
    const error = await serve(recorder(events, "failed"), { port: 0, signals: false }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ServerStartError);
    expect((error as Error).message).toBe("The application's startup failed: no database");
    expect(events).toEqual(["lifespan.startup"]);
  });

  it("suggests a fix if the port is in use, and shuts the application down again", async () => {
    await using taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const events: string[] = [];
    await expect(serve(recorder(events), { port, signals: false })).rejects.toMatchObject({
      code: "EADDRINUSE",
      message: `Port ${port} on 127.0.0.1 is in use. Stop the program that has it, or choose another port.`,
    });
    expect(events).toEqual(["lifespan.startup", "lifespan.shutdown"]);
  });

  it("returns the url and the name of its loop", async () => {
    await using server = await served(hello);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.loop).toBe("libuv");
    expect(server.logger.at("info").map((line) => line.message)).toContain(`Listening on ${server.url}`);
  });

  it("lets a running request finish, closes its connection, and accepts no new one while it closes", async () => {
    const entered = new Deferred<void>();
    const release = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        entered.resolve();
        await release.promise;
        await respond(send, 200, "finished");
      }),
    );
    await using wire = new Wire(server.port);
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await entered.promise;
    const closed = server.close();
    await refusesConnections(server.port);
    release.resolve();
    expect(await wire.closed).toMatch(
      /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n(?:.*\r\n)*\r\nfinished$/i,
    );
    await closed;
  });

  it("waits for work that the application continues after its response", async () => {
    const release = new Deferred<void>();
    let taskDone = false;
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await respond(send, 200, "sent");
        await release.promise;
        taskDone = true;
      }),
    );
    expect(await (await fetch(server.url)).text()).toBe("sent");
    const closed = server.close();
    setImmediate(() => release.resolve());
    await closed;
    expect(taskDone).toBe(true);
  });

  it("rejects with the paths that still run when closing takes too long", async () => {
    const entered: string[] = [];
    const both = new Deferred<void>();
    await using server = await served(
      httpApp((scope) => {
        if (entered.push(scope.path) === 2) {
          both.resolve();
        }
        return new Promise<never>(() => {});
      }),
      { shutdownTimeoutMs: 50 },
    );
    await using wire = new Wire(server.port);
    wire.write("GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    await using other = new Wire(server.port);
    other.write("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
    await both.promise;
    const error: unknown = await server.close().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ShutdownTimeoutError);
    expect((error as ShutdownTimeoutError).running.toSorted()).toEqual(["GET /stuck", "POST /upload"]);
    await wire.closed;
  });
});
