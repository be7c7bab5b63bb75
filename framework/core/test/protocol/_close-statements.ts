/** The statements about the end of WebSockets, by either side. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import type { ClientWebSocket } from "@tsgi/conformance";
import { Deferred, nextTurn } from "../../src/common/promises.js";
import { received, sendEach, type WebSocketCall } from "./_calls.js";
import type { Statement } from "./_statement.js";
import { ACCEPT, close, plain, say, talkOpen } from "./_websocket-calls.js";

const CLOSING = "ASGI www#close-send-event";
const DISCONNECT = "ASGI www#disconnect-receive-event-ws";
const ERRORS = "ASGI main#error-handling";
const websocket = ["websocket"] as const;
const frames = ["websocket", "frames"] as const;

const seenEnd = async (client: ClientWebSocket) => plain(await client.closed);

const byApplication: readonly Statement[] = [
  ...(
    [
      ["no code", close(), 1000, ""],
      ["1000", close(1000), 1000, ""],
      ["1001 and a reason", close(1001, "going"), 1001, "going"],
      ["1014, the last of the registry", close(1014), 1014, ""],
      ["3000", close(3000), 3000, ""],
      ["4999", close(4999), 4999, ""],
      ["`null` as reason", close(4001, null), 4001, ""],
      ["a reason of 123 bytes", close(4001, "\u00e9".repeat(61) + "x"), 4001, "\u00e9".repeat(61) + "x"],
    ] as const
  ).map(([what, message, code, reason]): Statement => ({
    title: `A close with ${what} reaches the client, and \`receive\` returns a disconnect with the code`,
    source: CLOSING,
    needs: websocket,
    run: async (stage) => {
      const { value, seen, log } = await talkOpen(
        stage,
        async ({ receive, send }) => {
          await send(message);
          return received(receive);
        },
        seenEnd,
      );
      expect(seen).toEqual({ code, reason });
      expect(await value).toMatchObject({ type: "websocket.disconnect", code });
      expect(log).toEqual([]);
    },
  })),
  {
    title: "A close whose code or reason must not be sent throws, and the WebSocket goes on",
    source: "RFC 6455 §5.5, §7.4",
    needs: websocket,
    run: async (stage) => {
      const codes = [-1, 0, 999, 1004, 1005, 1006, 1015, 2000, 2999, 5000, 65_536, 1000.5, Number.NaN];
      const wrong = [...codes.map((code) => close(code)), close(1000, "\u00e9".repeat(62))];
      const { value, seen } = await talkOpen(
        stage,
        ({ send }) => sendEach(send, [...wrong, say("on")]),
        (client) => client.receive(),
      );
      expect([await value, seen]).toEqual([[...wrong.map(() => "ProtocolError"), null], "on"]);
    },
  },
  {
    title: "After a close, a message and an accept throw, and another close is ignored",
    source: CLOSING,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talkOpen(
        stage,
        ({ send }) => sendEach(send, [close(4001), say("late"), ACCEPT, close(4002)]),
        seenEnd,
      );
      const [first, message, accept, second] = await value;
      expect([first, message === null, accept === null, second]).toEqual([null, false, false, null]);
      expect(seen.code).toBe(4001);
    },
  },
  {
    title: "After a close that the client has answered, a message throws as for a client that has disconnected",
    source: "ASGI www#disconnected-client-send-exception",
    needs: websocket,
    run: async (stage) => {
      const { value } = await talkOpen(
        stage,
        async ({ receive, send }) => {
          await send(close(4001));
          await receive();
          return sendEach(send, [say("late"), close(4002)]);
        },
        seenEnd,
      );
      expect(await value).toEqual(["ClientDisconnect", null]);
    },
  },
  {
    title: "Messages that were sent before a close reach the client before it",
    source: CLOSING,
    needs: websocket,
    run: async (stage) => {
      const { seen } = await talkOpen(
        stage,
        ({ send }) => sendEach(send, [say("one"), say("two"), close(4001)]),
        async (client) => [await client.receive(), await client.receive(), (await client.closed).code],
      );
      expect(seen).toEqual(["one", "two", 4001]);
    },
  },
];

/** Waits for the disconnect, and returns it and what follows. */
async function untilDisconnect({ receive }: WebSocketCall): Promise<unknown[]> {
  const messages: unknown[] = [];
  for (;;) {
    const message = await received(receive);
    messages.push(message["type"] === "websocket.receive" ? message["text"] : message);
    if (message["type"] === "websocket.disconnect") return [...messages, await received(receive)];
  }
}

const byClient: readonly Statement[] = [
  ...(
    [
      ["1000", [1000], websocket],
      ["1001 and a reason", [1001, "bye"], websocket],
      ["a code of its own", [4321, "\u00e9"], websocket],
    ] as const
  ).map(([what, [code, reason = ""], needs]): Statement => ({
    title: `\`receive\` returns a disconnect, again and again, if the client closes with ${what}`,
    source: DISCONNECT,
    needs,
    run: async (stage) => {
      const { value, log } = await talkOpen(stage, untilDisconnect, async (client) => {
        await client.close(code, reason);
        await client.closed;
      });
      const message = { type: "websocket.disconnect", code, reason };
      expect(await value).toEqual([message, message]);
      expect(log).toEqual([]);
    },
  })),
  {
    title: "`receive` returns a disconnect with 1005 if the client closes without a code",
    source: DISCONNECT,
    needs: frames,
    run: async (stage) => {
      const { value, seen } = await talkOpen(stage, untilDisconnect, async (client) => {
        await client.close();
        return seenEnd(client);
      });
      const message = { type: "websocket.disconnect", code: 1005, reason: "" };
      expect([await value, seen]).toEqual([[message, message], { code: 1005, reason: "" }]);
    },
  },
  {
    title: "`receive` returns a disconnect with 1006 if the connection is lost",
    source: DISCONNECT,
    needs: websocket,
    run: async (stage) => {
      const { value, log } = await talkOpen(stage, untilDisconnect, (client) => client.terminate());
      const message = { type: "websocket.disconnect", code: 1006, reason: "" };
      expect([await value, log]).toEqual([[message, message], []]);
    },
  },
  {
    title: "`receive` returns the messages that arrived before the close",
    source: DISCONNECT,
    needs: websocket,
    run: async (stage) => {
      const gate = new Deferred<void>();
      const { value } = await talkOpen(
        stage,
        async (call) => {
          await gate.promise;
          return untilDisconnect(call);
        },
        async (client, server) => {
          await client.send("one");
          await client.send("two");
          await client.close(4001, "bye");
          await server.fence();
          gate.resolve();
          await client.closed;
        },
      );
      const message = { type: "websocket.disconnect", code: 4001, reason: "bye" };
      expect(await value).toEqual(["one", "two", message, message]);
    },
  },
  {
    title: "Responses to messages reach the client that has closed immediately after them",
    source: "RFC 6455 §5.5.1",
    needs: websocket,
    differs: {
      "uWebSockets.js": "it answers a close before the application has received the messages",
      workerd: "it answers a close before the application has received the messages",
    },
    run: async (stage) => {
      const { seen } = await talkOpen(
        stage,
        async ({ receive, send }) => {
          for (let message = await receive(); message.type === "websocket.receive"; message = await receive()) {
            await nextTurn(); // the close has arrived
            await send(say(`${message.text}!`));
          }
        },
        async (client) => {
          const replies = [client.receive(), client.receive()];
          await client.send("one");
          await client.send("two");
          await client.close(1000);
          return Promise.allSettled(replies);
        },
      );
      expect(seen).toEqual([
        { status: "fulfilled", value: "one!" },
        { status: "fulfilled", value: "two!" },
      ]);
    },
  },
  {
    title: "A close of the client with a code that must not be sent is a breach: 1002 on both sides",
    source: "RFC 6455 §7.4",
    needs: frames,
    differs: {
      "uWebSockets.js": "it answers with an empty close, and reports a lost connection",
      workerd: "it answers with the same code",
    },
    run: async (stage) => {
      for (const code of [0, 999, 1004, 1005, 1006, 1015, 2999, 5000]) {
        const { value, seen } = await talkOpen(stage, untilDisconnect, async (client) => {
          await client.close(code);
          return seenEnd(client);
        });
        expect([(await value)[0], seen.code]).toEqual([
          expect.objectContaining({ type: "websocket.disconnect", code: 1002 }),
          1002,
        ]);
      }
    },
  },
  {
    title: "A message throws after the client has disconnected, and a close is ignored",
    source: "ASGI www#disconnected-client-send-exception",
    needs: websocket,
    run: async (stage) => {
      const { value, log } = await talkOpen(
        stage,
        async ({ receive, send }) => {
          await receive();
          return sendEach(send, [say("late"), ACCEPT, close(), close(4001)]);
        },
        (client) => client.terminate(),
      );
      expect(await value).toEqual(["ClientDisconnect", "ClientDisconnect", null, null]);
      expect(log).toEqual([]);
    },
  },
];

/** Ends of the application itself. */
const byEnd: readonly Statement[] = [
  {
    title: "An application that returns closes its WebSocket with 1000",
    source: "ASGI www#websocket-connection-scope",
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talkOpen(stage, async () => {}, seenEnd);
      expect([seen, log]).toEqual([{ code: 1000, reason: "" }, []]);
    },
  },
  {
    title: "An application that throws closes its WebSocket with 1011, with an error in the log",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talkOpen(stage, () => Promise.reject(new Error("on purpose")), seenEnd);
      expect(seen).toEqual({ code: 1011, reason: "" });
      expect(log).toEqual(["error The application threw: WebSocket / | Error: on purpose"]);
    },
  },
  ...(
    [
      ["text", "text"],
      ["null", null],
      ["undefined", undefined],
    ] as const
  ).map(([what, error]): Statement => ({
    title: `An application that throws ${what} closes its WebSocket with 1011`,
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen } = await talkOpen(stage, () => Promise.reject(error), seenEnd);
      expect(seen).toEqual({ code: 1011, reason: "" });
    },
  })),
  {
    title: "An application that throws after its close does not change the code, with an error in the log",
    source: ERRORS,
    needs: ["websocket", "in process"],
    run: async (stage) => {
      const { seen, log } = await talkOpen(
        stage,
        async ({ send }) => {
          await send(close(4001, "own"));
          throw new Error("on purpose");
        },
        seenEnd,
      );
      expect(seen).toEqual({ code: 4001, reason: "own" });
      expect(log).toEqual(["error The application threw: WebSocket / | Error: on purpose"]);
    },
  },
  {
    title: "An application that throws after the client has answered its close is an error in the log",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { log } = await talkOpen(
        stage,
        async ({ receive, send }) => {
          await send(close(4001, "own"));
          await receive();
          throw new Error("on purpose");
        },
        seenEnd,
      );
      expect(log).toEqual(["error The application threw: WebSocket / | Error: on purpose"]);
    },
  },
  {
    title: "An application of WebSockets that throws after the client has closed is a line for debugging",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { log } = await talkOpen(
        stage,
        async ({ receive }) => {
          await receive();
          throw new Error("on purpose");
        },
        (client) => client.terminate(),
      );
      expect(log).toEqual([
        "debug The application threw after its client had disconnected: WebSocket / | Error: on purpose",
      ]);
    },
  },
  {
    title: "The server goes on after an application of WebSockets that throws",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen } = await talkOpen(
        stage,
        () => Promise.reject(new Error("on purpose")),
        async (client, server) => {
          await client.closed;
          return (await server.websocket()).status;
        },
      );
      expect(seen).toBe(101);
    },
  },
];

export const closeStatements: readonly Statement[] = [...byApplication, ...byClient, ...byEnd];
