/** The statements about messages of WebSockets. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import type { ClientWebSocket } from "@tsgi/conformance";
import { Deferred } from "../../src/common/promises.js";
import { bytes, errorOf, received, sendAny, sendEach, text, type WebSocketCall } from "./_calls.js";
import type { Statement } from "./_statement.js";
import { ACCEPT, opened, plain, say, talk, talkOpen } from "./_websocket-calls.js";

const RECEIVE = "ASGI www#receive-receive-event";
const SEND = "ASGI www#send-send-event";
const LIMIT = "docs/websockets.md";
const websocket = ["websocket"] as const;
const frames = ["websocket", "frames"] as const;

/** Sends text of any length: one frame of the client with frames has at most 65,535 bytes. */
async function sendLong(client: ClientWebSocket, content: string): Promise<void> {
  if (client.sendFragments === undefined) return client.send(content);
  await client.sendFragments(...(content.match(/[^]{1,16384}/g) ?? [""]));
}

const messages: readonly Statement[] = [
  ...(
    [
      ["text", "text \u2603", { text: "text \u2603" }],
      ["empty text", "", { text: "" }],
      ["bytes", bytes("\0\xff"), { bytes: "\0\xff" }],
      ["empty bytes", bytes(""), { bytes: "" }],
    ] as const
  ).flatMap(([what, data, fields]): Statement[] => [
    {
      title: `A message of ${what} from the client has one key with content`,
      source: RECEIVE,
      needs: websocket,
      run: async (stage) => {
        const { value } = await talkOpen(
          stage,
          ({ receive }) => received(receive),
          async (client) => {
            await client.send(data);
            await client.closed;
          },
        );
        const { type, ...rest } = await value;
        const given = Object.entries(rest).filter(([, content]) => content !== null && content !== undefined);
        expect([type, Object.fromEntries(given)]).toEqual(["websocket.receive", fields]);
      },
    },
    {
      title: `A message of ${what} reaches the client`,
      source: SEND,
      needs: websocket,
      run: async (stage) => {
        const key = typeof data === "string" ? "text" : "bytes";
        const other = typeof data === "string" ? "bytes" : "text";
        const { value, seen } = await talkOpen(
          stage,
          ({ send }) =>
            sendEach(send, [
              { type: "websocket.send", [key]: data },
              { type: "websocket.send", [key]: data, [other]: null },
              { type: "websocket.send", [key]: data, "x.key": 1 },
            ]),
          async (client) => [await client.receive(), await client.receive(), await client.receive()],
        );
        expect(await value).toEqual([null, null, null]);
        const contents = seen.map((content) => (typeof content === "string" ? content : text(content)));
        const kinds = seen.map((content) => typeof content === "string");
        expect([contents, kinds]).toEqual([
          Array(3).fill(Object.values(fields)[0]),
          Array(3).fill(typeof data === "string"),
        ]);
      },
    },
  ]),
  {
    title: "A message with neither text nor bytes, or with both, throws, and the WebSocket goes on",
    source: SEND,
    needs: websocket,
    run: async (stage) => {
      const wrong = [{}, { text: null, bytes: null }, { text: "a", bytes: bytes("a") }, { text: "", bytes: bytes("") }];
      const { value, seen } = await talkOpen(
        stage,
        ({ send }) => sendEach(send, [...wrong.map((fields) => ({ type: "websocket.send", ...fields })), say("on")]),
        (client) => client.receive(),
      );
      expect([await value, seen]).toEqual([[...wrong.map(() => "ProtocolError"), null], "on"]);
    },
  },
  {
    title: "A message whose text is not text, or whose bytes are not bytes, throws, and the WebSocket goes on",
    source: SEND,
    needs: websocket,
    run: async (stage) => {
      const texts = [5, ["a"], {}, bytes("a")].map((content) => ({ type: "websocket.send", text: content }));
      const wrong = [
        ...texts,
        ...["a", 5, [1], { length: 1 }].map((data) => ({ type: "websocket.send", bytes: data })),
      ];
      const { value, seen } = await talkOpen(
        stage,
        ({ send }) => sendEach(send, [...wrong, say("on")]),
        (client) => client.receive(),
      );
      expect([await value, seen]).toEqual([[...wrong.map(() => "ProtocolError"), null], "on"]);
    },
  },
  {
    title: "A message of another type throws on an open WebSocket, and it goes on",
    source: "ASGI main#error-handling",
    needs: websocket,
    run: async (stage) => {
      const wrong = [
        { type: "websocket.unknown" },
        { type: "http.response.start", status: 200 },
        { type: "websocket.http.response.start", status: 401 },
        {},
      ];
      const { value, seen } = await talkOpen(
        stage,
        ({ send }) => sendEach(send, [...wrong, say("on")]),
        (client) => client.receive(),
      );
      expect([await value, seen]).toEqual([[...wrong.map(() => "ProtocolError"), null], "on"]);
    },
  },
  {
    title: "Messages keep their order, also those that arrive before the application receives them",
    source: RECEIVE,
    needs: websocket,
    run: async (stage) => {
      const count = 500;
      const gate = new Deferred<void>();
      const { value, seen } = await talkOpen(
        stage,
        async ({ receive, send }) => {
          await gate.promise;
          const order: unknown[] = [];
          for (let index = 0; index < count; index++) order.push((await received(receive))["text"]);
          for (let index = 0; index < count; index++) await send(say(String(index)));
          return order;
        },
        async (client) => {
          for (let index = 0; index < count; index++) await client.send(String(index));
          gate.resolve();
          const order: unknown[] = [];
          for (let index = 0; index < count; index++) order.push(await client.receive());
          return order;
        },
      );
      const expected = Array.from({ length: count }, (_, index) => String(index));
      expect([await value, seen]).toEqual([expected, expected]);
    },
  },
  {
    title: "The server answers a ping, of which the application learns nothing",
    source: "RFC 6455 §5.5.2",
    needs: frames,
    run: async (stage) => {
      const { value, seen } = await talkOpen(
        stage,
        ({ receive }) => received(receive),
        async (client) => {
          const pong = await client.ping?.("are you there?");
          await client.send("message");
          return pong;
        },
      );
      expect([await value, seen]).toEqual([expect.objectContaining({ text: "message" }), "are you there?"]);
    },
  },
  {
    title: "A second `receive` of a WebSocket throws while the first one waits, and the first one gets its message",
    source: RECEIVE,
    needs: websocket,
    run: async (stage) => {
      const asked = new Deferred<void>();
      const { value } = await talkOpen(
        stage,
        async ({ receive }) => {
          const first = received(receive);
          const second = errorOf(() => receive());
          await stage.isWaiting(second);
          asked.resolve();
          return [await second, await first];
        },
        async (client) => {
          await asked.promise;
          await client.send("message");
          await client.send("another");
          await client.closed;
        },
      );
      expect(await value).toEqual(["ProtocolError", expect.objectContaining({ text: "message" })]);
    },
  },
];

/** Accepts with a limit, and returns the message that follows. */
function accepting(limit: number | undefined) {
  return async ({ receive, send }: WebSocketCall): Promise<Record<string, unknown>> => {
    await receive();
    await sendAny(send, limit === undefined ? ACCEPT : { ...ACCEPT, max_message_bytes: limit });
    return received(receive);
  };
}

const TOO_LARGE = { type: "websocket.disconnect", code: 1009 };

const limits: readonly Statement[] = [
  {
    title: "A message as long as the limit of the accept arrives",
    source: LIMIT,
    needs: websocket,
    run: async (stage) => {
      const { value } = await talk(stage, accepting(100), async (answer) => {
        const client = opened(answer);
        await client.send("a".repeat(100));
        await client.closed;
      });
      expect(await value).toMatchObject({ type: "websocket.receive", text: "a".repeat(100) });
    },
  },
  ...(
    [
      ["text", "a".repeat(101)],
      ["text in bytes of UTF-8", "\u2603".repeat(34)],
      ["bytes", new Uint8Array(101)],
    ] as const
  ).map(([what, data]): Statement => ({
    title: `A message of ${what} beyond the limit of the accept closes with 1009 on both sides`,
    source: LIMIT,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(stage, accepting(100), async (answer) => {
        const client = opened(answer);
        await client.send(data);
        return plain(await client.closed);
      });
      expect(seen.code).toBe(1009);
      expect(await value).toMatchObject(TOO_LARGE);
    },
  })),
  {
    title: "A message of 1 MiB arrives without a limit of the accept",
    source: LIMIT,
    needs: websocket,
    run: async (stage) => {
      const { value } = await talk(stage, accepting(undefined), async (answer) => {
        const client = opened(answer);
        await sendLong(client, "a".repeat(1 << 20));
        await client.closed;
      });
      expect(String((await value)["text"])).toHaveLength(1 << 20);
    },
  },
  {
    title: "A message beyond 1 MiB closes with 1009 without a limit of the accept",
    source: LIMIT,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(stage, accepting(undefined), async (answer) => {
        const client = opened(answer);
        await sendLong(client, "a".repeat((1 << 20) + 1));
        return plain(await client.closed);
      });
      expect(seen.code).toBe(1009);
      expect(await value).toMatchObject(TOO_LARGE);
    },
  },
  {
    title: "A client waits while the application does not receive its messages, and none is lost",
    source: RECEIVE,
    needs: frames,
    differs: {
      "uWebSockets.js": "it cannot stop reading: a client that sends too much is closed with 1008",
      workerd: "it cannot stop reading: a client that sends too much is closed with 1008",
    },
    run: async (stage) => {
      const [message, count] = ["a".repeat(60_000), 300];
      const gate = new Deferred<void>();
      let sent = 0;
      const { value, seen } = await talkOpen(
        stage,
        async ({ receive }) => {
          await gate.promise;
          for (let index = 0; index < count; index++) {
            const { type, text: content } = await received(receive);
            if (type !== "websocket.receive" || String(content).length !== message.length) return index;
          }
          return count;
        },
        async (client, server) => {
          const sending = (async () => {
            for (; sent < count; sent++) await client.send(message);
          })();
          for (let round = 0; round < 20; round++) await server.fence();
          const ahead = sent;
          gate.resolve();
          await sending;
          await client.closed;
          return ahead;
        },
      );
      expect([await value, seen < count]).toEqual([count, true]);
    },
  },
  {
    title: "`send` of a WebSocket waits while the client does not read, and goes on when it does",
    source: SEND,
    needs: frames,
    differs: { workerd: "its send does not wait" },
    run: async (stage) => {
      const [message, count] = [bytes("a".repeat(262_144)), 128];
      const [gate, waits] = [new Deferred<void>(), new Deferred<boolean>()];
      const { value, seen } = await talk(
        stage,
        async ({ receive, send }) => {
          await receive();
          await send(ACCEPT);
          for (let sent = 0; sent < count; sent++) {
            const done = Promise.resolve(send({ type: "websocket.send", bytes: message }));
            if (await stage.isWaiting(done)) waits.resolve(true);
            await done;
          }
          waits.resolve(false);
          return waits.promise;
        },
        async (answer) => {
          await waits.promise;
          gate.resolve();
          let length = 0;
          for (let index = 0; index < count; index++) length += (await opened(answer).receive()).length;
          return length;
        },
        { pausedUntil: gate.promise },
      );
      expect([await value, seen]).toEqual([true, message.length * count]);
    },
  },
  {
    title: "`send` of a WebSocket throws while it waits for a client that disconnects",
    source: "ASGI www#disconnected-client-send-exception",
    needs: frames,
    differs: { workerd: "its send does not wait" },
    run: async (stage) => {
      const waits = new Deferred<void>();
      const { value, log } = await talk(
        stage,
        async ({ receive, send }) => {
          await receive();
          await send(ACCEPT);
          for (;;) {
            const done = Promise.resolve(send({ type: "websocket.send", bytes: new Uint8Array(262_144) }));
            if (await stage.isWaiting(done)) waits.resolve();
            const error = await errorOf(() => done);
            if (error !== null) return error;
          }
        },
        async (answer) => {
          await waits.promise;
          opened(answer).terminate();
        },
        { pausedUntil: waits.promise },
      );
      expect([await value, log]).toEqual(["ClientDisconnect", []]);
    },
  },
];

export const messageStatements: readonly Statement[] = [...messages, ...limits];
