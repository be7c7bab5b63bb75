/** The statements about servers that stop. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import type { TextHeaders } from "@tsgi/conformance";
import { Deferred, nextTurn } from "../../src/common/promises.js";
import { body, type HTTPCall, part, received, start } from "./_calls.js";
import type { Statement } from "./_statement.js";
import { ACCEPT, endOf, opened, plain } from "./_websocket-calls.js";

const DRAIN = "docs/server.md";
const drain = ["drain"] as const;
const ended = ["lifespan.startup", "lifespan.shutdown"];
const GONE = { type: "http.disconnect" };

const requests: readonly Statement[] = [
  {
    title: "A server that serves nothing stops, and ends its lifespan once",
    source: DRAIN,
    needs: ["drain", "lifespan"],
    run: async (stage) => {
      const server = await stage.start({});
      await server.fence();
      await Promise.all([server.stop(), server.stop()]);
      await server.stop();
      expect(server.lifespan).toEqual(ended);
    },
  },
  {
    title: "A server that stops waits for the request that runs, and then ends its lifespan",
    source: DRAIN,
    needs: ["drain", "lifespan"],
    run: async (stage) => {
      const [entered, gate] = [new Deferred<void>(), new Deferred<void>()];
      const http = async ({ send }: HTTPCall): Promise<void> => {
        entered.resolve();
        await gate.promise;
        await send(start(200));
        await send(body("whole"));
      };
      const server = await stage.start({ http });
      const response = server.whole({ mayClose: true });
      await entered.promise;
      const stopped = server.stop();
      const before = [...server.lifespan];
      gate.resolve();
      expect(await response).toMatchObject({ status: 200, body: "whole", end: "whole" });
      await stopped;
      expect([before, server.lifespan]).toEqual([["lifespan.startup"], ended]);
      expect(await server.log()).toEqual([]);
    },
  },
  {
    title: "A server that stops waits for an application that goes on after its response",
    source: DRAIN,
    needs: ["drain", "lifespan"],
    run: async (stage) => {
      const gate = new Deferred<void>();
      const order: string[] = [];
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          await send(body("whole"));
          await gate.promise;
          order.push("returned");
        },
      });
      await server.whole();
      const stopped = server.stop().then(() => order.push("stopped"));
      gate.resolve();
      await stopped;
      expect(order).toEqual(["returned", "stopped"]);
    },
  },
  {
    title:
      "A response that the client has not read yet is whole, if the server stops after the application has returned",
    source: DRAIN,
    needs: drain,
    run: async (stage) => {
      const [sent, gate] = [new Deferred<void>(), new Deferred<void>()];
      const content = "a".repeat(16 << 20);
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          void send(body(content));
          sent.resolve();
        },
      });
      const response = server.whole({ pausedUntil: gate.promise, mayClose: true });
      await sent.promise;
      const stopped = server.stop();
      gate.resolve();
      const { status, body: read, end } = await response;
      expect([status, read === content, end]).toEqual([200, true, "whole"]);
      await stopped;
    },
  },
  {
    title: "An application that waits for its client is not told that the server stops, before the response",
    source: DRAIN,
    needs: drain,
    run: async (stage) => {
      const [entered, gate] = [new Deferred<void>(), new Deferred<void>()];
      const messages: unknown[] = [];
      const server = await stage.start({
        http: async ({ receive, send }) => {
          await receive();
          void received(receive).then((message) => messages.push(message, "before the end"));
          entered.resolve();
          await gate.promise;
          messages.push("response");
          await send(start(200));
          await send(body("whole"));
        },
      });
      const response = server.whole({ mayClose: true });
      await entered.promise;
      const stopped = server.stop();
      gate.resolve();
      expect(await response).toMatchObject({ body: "whole", end: "whole" });
      await stopped;
      expect(messages[0]).toBe("response");
    },
  },
  ...["application/octet-stream", "text/plain; charset=text/event-stream"].map((type): Statement => ({
    title: `A response of ${type} that is sent in parts may finish while the server stops`,
    source: DRAIN,
    needs: drain,
    run: async (stage) => {
      const [begun, gate] = [new Deferred<void>(), new Deferred<void>()];
      let isTold = false;
      const server = await stage.start({
        http: async ({ receive, send }) => {
          await receive();
          await send(start(200, [["content-type", type]]));
          await send(part("one,"));
          void receive().then(() => (isTold = true));
          begun.resolve();
          await gate.promise;
          await send(part("two,"));
          if (isTold) await send(part("told,"));
          await send(body("three"));
        },
      });
      const response = server.whole({ mayClose: true });
      await begun.promise;
      const stopped = server.stop();
      gate.resolve();
      expect(await response).toMatchObject({ body: "one,two,three", end: "whole" });
      await stopped;
    },
  })),
];

const EVENTS = "text/event-stream";
const ONE = "id: 1\ndata: 1\n\n";

/** A stream whose server stops after these chunks. */
interface StoppedStream {
  readonly method?: string;
  readonly headers: TextHeaders;
  readonly chunks: readonly string[];
  /** Runs in the application after `http.disconnect`. */
  readonly after?: (call: HTTPCall) => Promise<void>;
  readonly end: "whole" | "cut";
}

function stopping({ method = "GET", headers, chunks, after, end }: StoppedStream): Statement["run"] {
  return async (stage) => {
    const [begun, messages] = [new Deferred<void>(), new Deferred<unknown>()];
    const server = await stage.start({
      http: async (call) => {
        await call.receive();
        await call.send(start(200, headers));
        for (const chunk of chunks) await call.send(part(chunk));
        begun.resolve();
        messages.resolve([await received(call.receive), await received(call.receive)]);
        await after?.(call);
      },
    });
    const response = server.whole({ method, mayClose: true });
    await begun.promise;
    await server.stop();
    expect(await messages.promise).toEqual([GONE, GONE]);
    const { body: read, ...whole } = await response;
    expect([whole.end, end === "cut" ? "" : read]).toEqual([end, end === "cut" ? "" : chunks.join("")]);
    expect(await server.log()).toEqual([]);
  };
}

/** A stream that finishes while its server stops. */
function finishing(method: string, headers: TextHeaders, chunk: string): Statement["run"] {
  return async (stage) => {
    const [begun, gate] = [new Deferred<void>(), new Deferred<void>()];
    const server = await stage.start({
      http: async ({ receive, send }) => {
        await receive();
        await send(start(200, headers));
        await send(part(chunk));
        begun.resolve();
        await gate.promise;
        await send(part(chunk));
        await send(body(chunk));
      },
    });
    const response = server.whole({ method, mayClose: true });
    await begun.promise;
    const stopped = server.stop();
    gate.resolve();
    expect(await response).toMatchObject({ body: chunk.repeat(3), end: "whole" });
    await stopped;
    expect(await server.log()).toEqual([]);
  };
}

const eventStreams: readonly Statement[] = [
  ...[EVENTS, `${EVENTS}; charset=utf-8`, "TEXT/Event-Stream;x=y"].map((type): Statement => ({
    title: `A GET of ${type} gets a disconnect when the server stops, and ends if its last event has an id`,
    source: DRAIN,
    needs: drain,
    run: stopping({
      headers: [
        ["x-test", "content-type"],
        ["Content-Type", type],
      ],
      chunks: ["data: 0\n\n", ONE, ": keep-alive\n\n"],
      end: "whole",
    }),
  })),
  ...(
    [
      ["its last event has no id", [ONE, "data: 2\n\n"]],
      ["its last event is not complete", [ONE, "id: 2\ndata: 2\n"]],
      ["it has sent only comments", [": keep-alive\n\n"]],
      ["its last id is empty", ["id:\ndata: 1\n\n"]],
    ] as const
  ).map(([when, chunks]): Statement => ({
    title: `A GET of an event stream is cut when the server stops, if ${when}`,
    source: DRAIN,
    needs: drain,
    run: stopping({ headers: [["content-type", EVENTS]], chunks, end: "cut" }),
  })),
  {
    title: "A GET of an event stream is cut when the server stops, if its body is encoded",
    source: DRAIN,
    needs: drain,
    run: stopping({
      headers: [
        ["content-type", EVENTS],
        ["content-encoding", "x-test"],
      ],
      chunks: [ONE],
      end: "cut",
    }),
  },
  {
    title: "An event stream that the server has ended because it stops sends no later events",
    source: DRAIN,
    needs: drain,
    run: stopping({
      headers: [["content-type", EVENTS]],
      chunks: [ONE],
      after: async ({ send }) => {
        for (const message of [part("id: 2\ndata: 2\n\n"), body()]) {
          await expect((async () => send(message))()).rejects.toMatchObject({ name: "ClientDisconnect" });
        }
      },
      end: "whole",
    }),
  },
  {
    title: "A GET of an event stream that begins while the server stops ends after its first event",
    source: DRAIN,
    needs: drain,
    run: async (stage) => {
      const [entered, gate, message] = [new Deferred<void>(), new Deferred<void>(), new Deferred<unknown>()];
      const server = await stage.start({
        http: async ({ receive, send }) => {
          await receive();
          entered.resolve();
          await gate.promise;
          await send(start(200, [["content-type", EVENTS]]));
          const sent = (async () => send(part(ONE)))().catch(() => {}); // some drivers wait until the client reads it
          message.resolve(await received(receive));
          await sent;
        },
      });
      const response = server.whole({ mayClose: true });
      await entered.promise;
      const stopped = server.stop();
      await nextTurn();
      gate.resolve();
      expect(await message.promise).toEqual(GONE);
      expect(await response).toMatchObject({ body: ONE, end: "whole" });
      await stopped;
    },
  },
  {
    title: "An event stream that responds to a POST finishes while the server stops",
    source: DRAIN,
    needs: drain,
    run: finishing("POST", [["content-type", EVENTS]], "data: 1\n\n"),
  },
];

const LIMIT_MS = 100;

/** A call that has not ended at the timeout of the shutdown. */
function late(send: (call: HTTPCall) => Promise<void>, expected: object, method = "POST"): Statement["run"] {
  return async (stage) => {
    const [entered, order] = [new Deferred<void>(), [] as unknown[]];
    const server = await stage.start(
      {
        http: async (call) => {
          await call.receive();
          await send(call);
          entered.resolve();
          order.push(await received(call.receive));
          await call.send(body("late"));
        },
      },
      { shutdownTimeoutMs: LIMIT_MS },
    );
    const response = server.whole({ method, mayClose: true });
    await entered.promise;
    await expect(server.stop()).rejects.toMatchObject({ name: "ShutdownTimeoutError", running: [`${method} /`] });
    expect(order).toEqual([GONE]);
    expect(await response).toMatchObject(expected);
    expect(await server.log()).toEqual([]);
  };
}

const timeouts: readonly Statement[] = (
  [
    ["a stream", [start(200), part("half")], { end: "cut" }],
    ["an event stream that responds to a POST", [start(200, [["content-type", EVENTS]]), part(ONE)], { end: "cut" }],
    ["a body short of its Content-Length", [start(200, [["content-length", "8"]]), part("half")], { end: "cut" }],
    [
      "a body that has all bytes of its Content-Length",
      [start(200, [["content-length", "4"]]), part("full")],
      { body: "full", end: expect.stringMatching(/^whole$|HTTP\/1.1 503/) },
    ],
  ] as const
).map(([what, messages, expected]): Statement => ({
  title: `At the timeout of the shutdown, ${what} is ${"body" in expected ? "whole" : "cut"}, although its application ends later`,
  source: DRAIN,
  needs: ["drain", "in process"],
  run: late(async ({ send }) => {
    for (const message of messages) await send(message);
  }, expected),
}));

const unanswered: Statement = {
  title: "At the timeout of the shutdown, a handler that has not responded gets a 503 or a cut connection",
  source: DRAIN,
  needs: ["drain", "in process"],
  run: async (stage) => {
    const entered = new Deferred<void>();
    const http = async ({ receive, send }: HTTPCall): Promise<void> => {
      await receive();
      entered.resolve();
      await receive();
      await send(start(200));
      await send(body("late"));
    };
    const server = await stage.start({ http }, { shutdownTimeoutMs: LIMIT_MS });
    const response = server.whole({ method: "PUT", mayClose: true });
    await entered.promise;
    await expect(server.stop()).rejects.toMatchObject({ name: "ShutdownTimeoutError", running: ["PUT /"] });
    const { status, end } = await response;
    expect(end === "cut" ? "cut" : status).toBe(end === "cut" ? "cut" : 503);
    expect(await server.log()).toEqual([]);
  },
};

const webSockets: readonly Statement[] = [
  {
    title: "An open WebSocket is closed with 1012 on both sides when the server stops",
    source: DRAIN,
    needs: ["drain", "websocket"],
    run: async (stage) => {
      const message = new Deferred<unknown>();
      const server = await stage.start({
        websocket: async ({ receive, send }) => {
          await receive();
          await send(ACCEPT);
          message.resolve(await received(receive));
        },
      });
      const client = opened(await server.websocket());
      const stopped = server.stop();
      expect(plain(await client.closed).code).toBe(1012);
      expect(await message.promise).toMatchObject({ type: "websocket.disconnect", code: 1012 });
      await stopped;
      expect(await server.log()).toEqual([]);
    },
  },
  {
    title: "A server that stops waits for the application of a WebSocket",
    source: DRAIN,
    needs: ["drain", "websocket"],
    run: async (stage) => {
      const order: string[] = [];
      const [told, gate] = [new Deferred<void>(), new Deferred<void>()];
      const server = await stage.start({
        websocket: async ({ receive, send }) => {
          await receive();
          await send(ACCEPT);
          await receive();
          told.resolve();
          await gate.promise;
          order.push("returned");
        },
      });
      await server.websocket();
      const stopped = server.stop().then(() => order.push("stopped"));
      await told.promise;
      gate.resolve();
      await stopped;
      expect(order).toEqual(["returned", "stopped"]);
    },
  },
  {
    title: "A handshake that is not completed is a 503 when the server stops, and the application gets a disconnect",
    source: DRAIN,
    needs: ["drain", "websocket"],
    run: async (stage) => {
      const [connecting, message] = [new Deferred<void>(), new Deferred<unknown>()];
      const server = await stage.start({
        websocket: async ({ receive }) => {
          await receive();
          const next = received(receive);
          connecting.resolve();
          message.resolve(await next);
        },
      });
      const answer = server.websocket();
      await connecting.promise;
      const stopped = server.stop();
      expect(await endOf(await answer)).toEqual({ status: 503, body: '{"detail":"Service Unavailable"}' });
      expect(await message.promise).toEqual({ type: "websocket.disconnect", code: 1006, reason: "" });
      await stopped;
      expect(await server.log()).toEqual([]);
    },
  },
];

export const drainStatements: readonly Statement[] = [
  ...requests,
  ...eventStreams,
  ...timeouts,
  unanswered,
  ...webSockets,
];
