/** The statements about servers that stop. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import { Deferred } from "../../src/common/promises.js";
import { body, type HTTPCall, part, received, start, text } from "./_calls.js";
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

/** An event stream whose server stops. */
function streaming(type: string, after: (call: HTTPCall) => Promise<void>): Statement["run"] {
  return async (stage) => {
    const messages = new Deferred<unknown>();
    const server = await stage.start({
      http: async (call) => {
        await call.receive();
        const headers = [
          ["x-test", "content-type"],
          ["Content-Type", type],
        ] as const;
        await call.send(start(200, headers));
        await call.send(part("data: 1\n\n"));
        const message = received(call.receive);
        messages.resolve([await message, await received(call.receive)]);
        await after(call);
      },
    });
    const { body: parts } = await server.request({ mayClose: true });
    const iterator = parts[Symbol.asyncIterator]();
    const first = await iterator.next();
    const stopped = server.stop();
    expect(await messages.promise).toEqual([GONE, GONE]);
    let rest = first.done === true ? "" : text(first.value);
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) rest += text(next.value);
    expect(rest).toMatch(/^data: 1\n\n(?:data: 2\n\n)?$/);
    await stopped;
    expect(await server.log()).toEqual([]);
  };
}

const eventStreams: readonly Statement[] = [
  ...["text/event-stream", "text/event-stream; charset=utf-8", "TEXT/Event-Stream;x=y"].map((type): Statement => ({
    title: `An event stream of the type ${type} gets a disconnect when the server stops, and ends without an error`,
    source: DRAIN,
    needs: drain,
    run: streaming(type, async () => {}),
  })),
  {
    title: "An event stream that got a disconnect because the server stops may send its last events",
    source: DRAIN,
    needs: drain,
    run: streaming("text/event-stream", async ({ send }) => {
      await send(part("data: 2\n\n"));
      await send(body());
    }),
  },
];

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

export const drainStatements: readonly Statement[] = [...requests, ...eventStreams, ...webSockets];
