import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { App } from "../../../src/app/app.js";
import type { SendMessage } from "../../../src/protocol/asgi.js";
import { HeaderList } from "../../../src/protocol/header-list.js";
import { ClientDisconnect } from "../../../src/common/exceptions.js";
import { Path } from "../../../src/parameters/head.js";
import { Deferred } from "../../../src/common/promises.js";
import { t } from "../../../src/schema/schema.js";
import { httpApp, pair, respond, served, Wire } from "./_http.js";
import { body, GET, NEXT, start, written } from "./_response-table.js";

/** An application that sends these messages, and `next` for the path `/next`. */
function sending(...messages: SendMessage[]) {
  return httpApp(async (scope, _receive, send) => {
    if (scope.path === "/next") {
      return respond(send, 200, "next");
    }
    for (const message of messages) {
      await send(message);
    }
  });
}

describe("a response", () => {
  it.each(["a", "\u00e9", "\u20ac"])("of JSON is whole at any length: %s", async (text) => {
    const app = new App();
    app.get("/{length}", { params: { length: Path(t.Integer()) } }, async ({ length }) => text.repeat(length));
    await using server = await served(app);
    for (const length of [1000, 2046, 2047, 16_384, 100_000, 3_000_000]) {
      const answer = await fetch(`${server.url}/${length}`);
      expect((await answer.text()) === JSON.stringify(text.repeat(length))).toBe(true);
    }
  });

  it.each(written)("%s", async (_rule, request, messages, expected) => {
    await using server = await served(sending(...messages));
    await using wire = new Wire(server.port);
    // The next response proves that client and server agree on the end of the body.
    const answer = await wire.write(request + NEXT).until(/next$/);
    const first = answer.replaceAll(/(?:Date|Connection|Keep-Alive): .*\r\n/g, "");
    expect(first).toBe(`${expected}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnext`);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("ends a stream to an HTTP/1.0 client with the connection", async () => {
    await using server = await served(sending(start(200), body("one", true), body("two")));
    await using wire = new Wire(server.port);
    const answer = await wire.write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").closed;
    expect(answer).toMatch(/\r\n\r\nonetwo$/);
    expect(answer).not.toMatch(/transfer-encoding|keep-alive/i);
  });

  it("waits with the head for the first part of the body (ASGI)", async () => {
    const release = new Deferred<void>();
    const sent = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send(start(200));
        sent.resolve();
        await release.promise;
        await send(body("", true));
        await new Promise(() => {});
      }),
      { shutdownTimeoutMs: 1 },
    );
    await using wire = new Wire(server.port);
    wire.write(GET);
    await sent.promise;
    expect(wire.received).toBe("");
    release.resolve();
    expect(await wire.until(/\r\n\r\n$/)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

/** Errors before the first byte is sent: the messages, and the log. */
const refused: [rule: string, messages: SendMessage[], reason: string][] = [
  ["CR LF in a value", [start(200, { a: "b\r\nc: d" }), body("")], "The header a has a control character"],
  ["LF in a value", [start(200, { a: "b\nc" }), body("")], "The header a has a control character"],
  ["NUL in a value", [start(200, { a: "b\0c" }), body("")], "The header a has a control character"],
  [
    "a character beyond latin-1 in a value",
    [{ type: "http.response.start", status: 200, headers: new HeaderList(["a", "€"]) }, body("")],
    "one beyond latin-1",
  ],
  ["CR LF in a name", [start(200, { "a\r\nb": "c" }), body("")], '"a\\r\\nb" is not a header name.'],
  ["a colon in a name", [start(200, { "a:": "c" }), body("")], '"a:" is not a header name.'],
  ["an empty name", [start(200, { "": "c" }), body("")], '"" is not a header name.'],
  [
    "a Content-Length that is none",
    [start(200, { "content-length": "x" }), body("")],
    "Expected one number of bytes as Content-Length",
  ],
  [
    "two Content-Lengths",
    [
      { type: "http.response.start", status: 200, headers: [pair("content-length", "1"), pair("Content-Length", "2")] },
      body("a"),
    ],
    "Expected one number of bytes as Content-Length",
  ],
  [
    "a body longer than its Content-Length",
    [start(200, { "content-length": "3" }), body("four")],
    "The body has 4 bytes, but Content-Length said 3.",
  ],
  [
    "a body shorter than its Content-Length",
    [start(200, { "content-length": "5" }), body("four")],
    "The body has 4 bytes, but Content-Length said 5.",
  ],
  ["a status below 200", [start(100), body("")], "Expected a status from 200 to 599"],
  ["a status beyond 599", [start(600), body("")], "Expected a status from 200 to 599"],
  ["a status that is no integer", [start(200.5), body("")], "Expected a status from 200 to 599"],
  ["two starts", [start(200), start(200), body("")], '"http.response.start" was sent twice.'],
  ["a body before the start", [body("")], '"http.response.body" was sent before "http.response.start".'],
  ["a message of another protocol", [{ type: "websocket.accept" }], 'not "websocket.accept"'],
];

describe("a response that HTTP does not allow", () => {
  it.each(refused)("is a 500 and one line in the log: %s", async (_rule, messages, reason) => {
    await using server = await served(sending(...messages));
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).closed).toMatch(/^HTTP\/1\.1 500 [^]*\r\n\r\n\{"detail":"Internal Server Error"\}$/);
    expect(server.logger.at("error").map((line) => [line.message, String(line.fields.err)])).toEqual([
      ["The application threw: GET /", expect.stringContaining(reason)],
    ]);
  });

  it("throws while the application can still send a different response", async () => {
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        try {
          await send(start(200, { a: "b\nc" }));
        } catch {
          await respond(send, 502, "upstream sent nonsense");
        }
      }),
    );
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).until(/nonsense$/)).toMatch(/^HTTP\/1\.1 502 /);
  });

  it.each([
    ["longer", "3", [body("on", true), body("two", true)]],
    ["shorter", "9", [body("on", true), body("")]],
  ])("is aborted if the body turns out %s than its Content-Length", async (_rule, length, parts) => {
    await using server = await served(sending(start(200, { "content-length": length }), ...parts));
    await using wire = new Wire(server.port);
    expect(await wire.write(GET + NEXT).closed).toMatch(/\r\n\r\non$|^$/);
    expect(String(server.logger.at("error")[0]?.fields.err)).toContain(`but Content-Length said ${length}.`);
  });
});

describe("a body that is longer than its Content-Length", () => {
  it("is truncated immediately, even if the application ignores the error", async () => {
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send(start(200, { "content-length": "3" }));
        await send(body("on", true));
        await Promise.resolve(body("two", true))
          .then(send)
          .catch(() => {});
        await new Promise(() => {});
      }),
      { shutdownTimeoutMs: 1 },
    );
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).closed).toMatch(/\r\n\r\non$|^$/);
  });
});

describe("an application that fails", () => {
  it("before the start results in 500, with the error only in the log", async () => {
    await using server = await served(httpApp(() => Promise.reject(new Error("secret"))));
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([500, '{"detail":"Internal Server Error"}']);
    expect(server.logger.at("error")).toMatchObject([
      { message: "The application threw: GET /", fields: { err: { message: "secret" } } },
    ]);
  });

  it("synchronously results in 500 as well", async () => {
    await using server = await served((scope) => {
      if (scope.type === "http") {
        throw new Error("not even a promise");
      }
      return Promise.resolve();
    });
    expect((await fetch(server.url)).status).toBe(500);
  });

  it("between start and body results in 500, because no bytes were sent", async () => {
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send(start(200, { "content-type": "text/html" }));
        throw new Error("late");
      }),
    );
    const response = await fetch(server.url);
    expect([response.status, response.headers.get("content-type")]).toEqual([500, "application/json"]);
  });

  it("after part of the body aborts the response, so that the client detects it is incomplete", async () => {
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send(start(200));
        await send(body("part", true));
        throw new Error("late");
      }),
    );
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).closed).toMatch(/^(?:HTTP\/1\.1 200 OK[^]*\r\n\r\n4\r\npart\r\n)?$/);
    expect(server.logger.at("error")).toHaveLength(1);
  });

  it("to respond is logged, and the client gets a 500", async () => {
    await using server = await served(httpApp(() => Promise.resolve()));
    expect((await fetch(server.url)).status).toBe(500);
    expect(server.logger.at("error").map((line) => line.message)).toEqual([
      "The application returned without a response: GET /",
    ]);
  });

  it("to end its stream aborts the response", async () => {
    await using server = await served(sending(start(200), body("part", true)));
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).closed).not.toContain("0\r\n\r\n");
    expect(server.logger.at("error").map((line) => line.message)).toEqual([
      "The application returned without the end of its response: GET /",
    ]);
  });

  it("after its response only causes a log entry", async () => {
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await respond(send, 200, "sent");
        throw new Error("background");
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(GET).until(/sent$/);
    await wire.write(GET).until(/sent[^]*sent$/);
    expect(server.logger.at("error")).toHaveLength(2);
  });
});

describe("send", () => {
  const MEGABYTE = Buffer.alloc(1 << 20);

  it("returns undefined if the socket accepts the data immediately", async () => {
    const results: unknown[] = [];
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        results.push(send(start(200)), send(body("a", true)), send(body("b")));
      }),
    );
    await (await fetch(server.url)).text();
    expect(results).toEqual([undefined, undefined, undefined]);
  });

  it("makes a fast application wait for a slow reader", async () => {
    const waits = new Deferred<void>();
    let sent = 0;
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send(start(200));
        for (; sent < 64; sent++) {
          const done = send({ type: "http.response.body", body: MEGABYTE, more_body: true });
          if (done) {
            waits.resolve();
            await done;
          }
        }
        await send(body(""));
      }),
    );
    await using wire = new Wire(server.port);
    wire.socket.pause();
    wire.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await waits.promise;
    expect(sent).toBeLessThan(16);
    wire.socket.resume();
    expect((await wire.closed).length).toBeGreaterThan(64 << 20);
  });

  it("rejects after the client has disconnected, including the waiting call", async () => {
    const waits = new Deferred<void>();
    const outcome = new Deferred<unknown[]>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        const part: SendMessage = { type: "http.response.body", body: MEGABYTE, more_body: true };
        await send(start(200));
        let done: Promise<void> | void;
        do {
          done = send(part);
          // From Node 26 on, a write waits a turn for others to join it: a request that has ended by then did not wait
          // for the client.
        } while (done === undefined || (await Promise.race([done.then(() => true), turns(3)])));
        waits.resolve();
        const waiting: unknown = await done.catch((error: unknown) => error);
        const next: unknown = await Promise.resolve(part)
          .then(send)
          .catch((error: unknown) => error);
        outcome.resolve([waiting, next]);
      }),
    );
    await using wire = new Wire(server.port);
    wire.socket.pause();
    wire.write(GET);
    await waits.promise;
    wire.socket.resetAndDestroy();
    expect(await outcome.promise).toEqual([expect.any(ClientDisconnect), expect.any(ClientDisconnect)]);
    expect(server.logger.at("error")).toEqual([]);
  });

  it.each([0, 1, 100, 100_000, 1_000_000])(
    "ends a download whose client resets after %i bytes, and logs no error",
    async (bytes) => {
      const ended = new Deferred<unknown>();
      await using server = await served(
        httpApp(async (_scope, _receive, send) => {
          try {
            await send(start(200));
            for (;;) {
              await send({ type: "http.response.body", body: MEGABYTE.subarray(0, 65_536), more_body: true });
              await new Promise((resolve) => setImmediate(resolve)); // an application that does something in between
            }
          } catch (error) {
            ended.resolve(error);
            throw error;
          }
        }),
      );
      await using wire = new Wire(server.port);
      await new Promise((resolve) => wire.socket.write(GET, resolve));
      while (wire.received.length < bytes) {
        await once(wire.socket, "data");
      }
      wire.socket.resetAndDestroy();
      if (bytes > 0) {
        expect(await ended.promise).toBeInstanceOf(ClientDisconnect);
      }
      await server.close();
      expect(server.logger.at("error")).toEqual([]);
    },
  );
});

/** Resolves to `false` after so many turns of the loop. */
async function turns(count: number): Promise<false> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  return false;
}
