/** The statements about clients that disconnect, and about clients that end their side. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import { Deferred, nextTurn } from "../../src/common/promises.js";
import {
  body,
  bytes,
  errorOf,
  type HTTPCall,
  part,
  partsOf,
  readBody,
  received,
  sendAny,
  sendEach,
  start,
  text,
} from "./_calls.js";
import type { Request } from "./_driver.js";
import type { Server, Stage } from "./_stage.js";
import type { Statement } from "./_statement.js";

const DISCONNECT = "ASGI www#disconnect-receive-event";
const SEND = "ASGI www#disconnected-client-send-exception";
const GONE = { type: "http.disconnect" };

type Received = Record<string, unknown>;

/** A client that disconnects while an application waits in `receive`, and what the application does then. */
interface Leaving<Value> {
  readonly request?: Request;
  /** Before the wait. */
  readonly first?: (call: HTTPCall) => Promise<void>;
  /** Gets the message that it has waited for, and the one before. */
  readonly after: (call: HTTPCall, message: Received, before: Received) => Promise<Value>;
}

/** Lets a client disconnect, and returns the result of the application, or its error, and the log. */
async function leave<Value>(
  stage: Stage,
  { request, first, after }: Leaving<Value>,
): Promise<{ value: Promise<Value>; log: readonly string[] }> {
  const client = new AbortController();
  const waits = new Deferred<void>();
  const value = new Deferred<Value>();
  const http = async (call: HTTPCall): Promise<void> => {
    const before = await received(call.receive);
    await first?.(call);
    const message = received(call.receive);
    waits.resolve();
    const result = after(call, await message, before);
    void result.then(value.resolve, value.reject);
    await result;
  };
  const server = await stage.start({ http });
  const read = readUntilCut(server, { ...request, signal: client.signal });
  await waits.promise;
  client.abort();
  await value.promise.catch(() => {});
  await read;
  return { value: value.promise, log: await server.log() };
}

/** Reads a response up to its last received byte. */
async function readUntilCut(server: Server, request: Request): Promise<void> {
  await server.whole(request);
}

const beginning = async ({ send }: HTTPCall): Promise<void> => {
  await send(start(200));
  await send(part("part"));
};

/** Sends parts until that throws. The end of a connection is certain only after something was sent into it. */
async function sendUntilError({ send }: HTTPCall): Promise<string> {
  for (;;) {
    const error = await errorOf(() => send(part("lost")));
    if (error !== null) return error;
    await nextTurn();
  }
}

const phases = [
  ["before the response", undefined],
  ["after the start", ({ send }: HTTPCall) => sendAny(send, start(200))],
  ["during the response", beginning],
] as const;

const disconnects: readonly Statement[] = [
  ...phases.map(([when, first]): Statement => ({
    title: `\`receive\` returns a disconnect, again and again, if the client disconnects ${when}`,
    source: DISCONNECT,
    run: async (stage) => {
      const { value, log } = await leave(stage, {
        first,
        after: async ({ receive }, message) => [message, await received(receive), await received(receive)],
      });
      expect(await value).toEqual([GONE, GONE, GONE]);
      expect(log).toEqual([]);
    },
  })),
  {
    title: "A start and a body throw after the client has disconnected",
    source: SEND,
    run: async (stage) => {
      const { value, log } = await leave(stage, {
        after: ({ send }) => sendEach(send, [start(200), part("lost"), body()]),
      });
      expect(await value).toEqual(["ClientDisconnect", "ClientDisconnect", "ClientDisconnect"]);
      expect(log).toEqual([]);
    },
  },
  {
    title: "A part throws after the client has disconnected during the response",
    source: SEND,
    run: async (stage) => {
      const { value, log } = await leave(stage, { first: beginning, after: sendUntilError });
      expect(await value).toBe("ClientDisconnect");
      expect(log).toEqual([]);
    },
  },
  {
    title: "The end of a response throws after the client has disconnected",
    source: SEND,
    run: async (stage) => {
      const { value } = await leave(stage, {
        first: beginning,
        after: async (call) => {
          await sendUntilError(call);
          return errorOf(() => call.send(body()));
        },
      });
      expect(await value).toBe("ClientDisconnect");
    },
  },
  {
    title: "`send` throws while it waits for a client that disconnects",
    source: SEND,
    run: async (stage) => {
      const client = new AbortController();
      const waits = new Deferred<void>();
      const error = new Deferred<string | null>();
      const http = async ({ send }: HTTPCall): Promise<void> => {
        await send(start(200));
        for (;;) {
          const done = Promise.resolve(
            send({ type: "http.response.body", body: new Uint8Array(524_288), more_body: true }),
          );
          if (await stage.isWaiting(done)) waits.resolve();
          const name = await errorOf(() => done);
          if (name !== null) return error.resolve(name);
        }
      };
      const server = await stage.start({ http });
      const response = server.request({ signal: client.signal, pausedUntil: waits.promise });
      void response.catch(() => {});
      await waits.promise;
      client.abort();
      expect(await error.promise).toBe("ClientDisconnect");
      expect(await server.log()).toEqual([]);
    },
  },
  ...phases.map(([when, first]): Statement => ({
    title: `An application that throws after the client has disconnected ${when} is a line for debugging`,
    source: SEND,
    run: async (stage) => {
      const { log } = await leave(stage, { first, after: () => Promise.reject(new Error("on purpose")) });
      expect(log).toEqual(["debug The application threw after its client had disconnected: GET / | Error: on purpose"]);
    },
  })),
  {
    title: "An error in the messages of an application is an error in the log after the client has disconnected",
    source: "ASGI main#error-handling",
    needs: ["in process"],
    run: async (stage) => {
      let mistake: unknown;
      const { log } = await leave(stage, {
        first: async ({ send }) =>
          sendAny(send, { type: "http.unknown" }).catch((error: unknown) => void (mistake = error)),
        after: () => Promise.reject(mistake),
      });
      expect(log).toEqual([expect.stringMatching(/^error The application threw: GET \/ \| ProtocolError: /)]);
    },
  },
  {
    title:
      "An application that throws after the whole response is an error in the log, if the client has disconnected since",
    source: "ASGI main#error-handling",
    run: async (stage) => {
      const client = new AbortController();
      const gone = new Deferred<void>();
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          await send(body("whole"));
          await gone.promise;
          throw new Error("on purpose");
        },
      });
      await server.whole({ signal: client.signal });
      client.abort();
      await server.fence();
      gone.resolve();
      expect(await server.log()).toEqual(["error The application threw: GET / | Error: on purpose"]);
    },
  },
  {
    title: "A client that disconnects after the whole response is nothing to the application",
    source: DISCONNECT,
    run: async (stage) => {
      const client = new AbortController();
      const gone = new Deferred<void>();
      const after = new Deferred<unknown>();
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200));
          await send(body("whole"));
          await gone.promise;
          after.resolve(await sendEach(send, [part("more"), body("more")]));
        },
      });
      expect(await server.whole({ signal: client.signal })).toMatchObject({ body: "whole", end: "whole" });
      client.abort();
      await server.fence();
      gone.resolve();
      expect(await after.promise).toEqual([null, null]);
      expect(await server.log()).toEqual([]);
    },
  },
  {
    title:
      "A client that has read the announced length has the whole response, if it disconnects before the last message",
    source: "RFC 9112 §6.3",
    run: async (stage) => {
      const client = new AbortController();
      const gone = new Deferred<void>();
      const after = new Deferred<unknown>();
      const server = await stage.start({
        http: async ({ send }) => {
          await send(start(200, [["content-length", "5"]]));
          await send(part("hello"));
          await gone.promise;
          after.resolve(await sendEach(send, [body(), part("ignored")]));
        },
      });
      const { body: parts } = await server.request({ signal: client.signal });
      let content = "";
      for await (const arrived of parts) {
        content += text(arrived);
        if (content === "hello") break;
      }
      client.abort();
      for (let round = 0; round < 3; round++) await server.fence();
      gone.resolve();
      expect([await after.promise, await server.log()]).toEqual([[null, null], []]);
    },
  },
  {
    title: "The server goes on after a client that disconnects",
    source: DISCONNECT,
    run: async (stage) => {
      const client = new AbortController();
      const waits = new Deferred<void>();
      let calls = 0;
      const server = await stage.start({
        http: async ({ receive, send }) => {
          if (++calls === 1) {
            await receive();
            waits.resolve();
            await receive();
            return;
          }
          await send(start(200));
          await send(body("next"));
        },
      });
      const lost = server.whole({ signal: client.signal });
      await waits.promise;
      client.abort();
      await lost;
      expect(await server.whole()).toMatchObject({ status: 200, body: "next", end: "whole" });
    },
  },
];

/** A body whose client disconnects in the middle of it. */
async function* half(): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes("half");
  await new Promise(() => {});
}

const framings = [
  ["without", []],
  ["with", [["content-length", "8"]]],
] as const;

/** Lets a client disconnect during a body that the application reads, or has not begun to read. */
async function leaveUpload<Value>(
  stage: Stage,
  { headers = [], isRead = true }: { readonly headers?: Request["headers"]; readonly isRead?: boolean },
  after: (call: HTTPCall, last: string) => Promise<Value>,
): Promise<{ value: Promise<Value>; log: readonly string[] }> {
  const client = new AbortController();
  const entered = new Deferred<void>();
  const gate = new Deferred<void>();
  const value = new Deferred<Value>();
  const http = async (call: HTTPCall): Promise<void> => {
    const reading = isRead ? readBody(call.receive) : gate.promise.then(() => readBody(call.receive));
    entered.resolve();
    const result = after(call, (await reading).last);
    void result.then(value.resolve, value.reject);
    await result;
  };
  const server = await stage.start({ http });
  void server.whole({ method: "POST", headers, body: half(), signal: client.signal });
  await entered.promise;
  client.abort();
  for (let round = 0; round < 3; round++) await server.fence();
  gate.resolve();
  await value.promise.catch(() => {});
  return { value: value.promise, log: await server.log() };
}

const uploads: readonly Statement[] = [
  ...framings.flatMap(([length, headers]): Statement[] => [
    {
      title: `\`receive\` returns a disconnect if the client disconnects during a body ${length} a length`,
      source: DISCONNECT,
      run: async (stage) => {
        const { value, log } = await leaveUpload(stage, { headers }, async ({ receive }, last) => [
          last,
          await received(receive),
        ]);
        expect(await value).toEqual(["http.disconnect", GONE]);
        expect(log).toEqual([]);
      },
    },
    {
      title: `A body ${length} a length during which the client has disconnected does not become whole, if it is read later`,
      source: DISCONNECT,
      run: async (stage) => {
        const { value, log } = await leaveUpload(stage, { headers, isRead: false }, async (_call, last) => last);
        expect(await value).toBe("http.disconnect");
        expect(log).toEqual([]);
      },
    },
    {
      title: `An application that throws for half a body ${length} a length is a line for debugging`,
      source: DISCONNECT,
      run: async (stage) => {
        const { log } = await leaveUpload(stage, { headers }, () => Promise.reject(new Error("half a body")));
        expect(log).toEqual([
          "debug The application threw after its client had disconnected: POST / | Error: half a body",
        ]);
      },
    },
  ]),
  {
    title: "`receive` returns the part of a body that has arrived before the client disconnects",
    source: DISCONNECT,
    run: async (stage) => {
      const { value } = await leave(stage, {
        request: { method: "POST", body: half() },
        after: async (_call, message, before) => [before, message],
      });
      expect(await value).toEqual([{ type: "http.request", body: "half", more_body: true }, GONE]);
    },
  },
];

const ENDS_BOTH = {
  toNodeHandler: "node:http ends the connection of a client that ends its side",
  "uWebSockets.js": "it closes the connection of a client that ends its side",
  "Bun fetch": "it closes the connection of a client that ends its side",
  "Deno fetch": "it closes the connection of a client that ends its side",
  workerd: "it does not tell the worker",
};

const halfClosed: readonly Statement[] = [
  {
    title: "A client that ends its side gets the whole response",
    source: "RFC 9112 §9.6",
    needs: ["half-close"],
    differs: ENDS_BOTH,
    run: async (stage) => {
      const server = await stage.start({
        http: async ({ receive, send }) => {
          await receive();
          await received(receive);
          await send(start(200));
          await send(part("who"));
          await send(body("le"));
        },
      });
      expect(await server.whole({ halfClose: true })).toMatchObject({ status: 200, body: "whole", end: "whole" });
      expect(await server.log()).toEqual([]);
    },
  },
  {
    title: "`receive` returns the body, then a disconnect, if the client ends its side",
    source: DISCONNECT,
    needs: ["half-close"],
    differs: {
      "Bun fetch": "it fails the body of a client that ends its side",
      "Deno fetch": "it fails the body of a client that ends its side",
      workerd: ENDS_BOTH.workerd,
    },
    run: async (stage) => {
      const messages = new Deferred<unknown>();
      const server = await stage.start({
        http: async ({ receive }) =>
          messages.resolve([await readBody(receive), await received(receive), await received(receive)]),
      });
      void server.whole({ method: "POST", body: partsOf("one,", "two"), halfClose: true });
      expect(await messages.promise).toMatchObject([{ last: "http.request" }, GONE, GONE]);
    },
  },
  {
    title: "An application that returns without the end of its response ends it, if the client has ended its side",
    source: "RFC 9112 §9.6",
    needs: ["half-close"],
    differs: ENDS_BOTH,
    run: async (stage) => {
      const server = await stage.start({
        http: async ({ receive, send }) => {
          await receive();
          await send(start(200));
          await send(part("data"));
          await received(receive);
        },
      });
      expect(await server.whole({ halfClose: true })).toMatchObject({ body: "data", end: "whole" });
      expect(await server.log()).toEqual([]);
    },
  },
];

export const disconnectStatements: readonly Statement[] = [...disconnects, ...uploads, ...halfClosed];
