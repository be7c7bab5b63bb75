/** WebSockets of the tool library: each conversation with all that the client hears, and how it ends. @module */
import type { Need } from "./_calls.js";
import type { Handshake, Peer, Served } from "./_drivers.js";

export interface Conversation {
  /** A sentence. */
  readonly title: string;
  readonly path: string;
  readonly handshake?: Handshake;
  /** Returns all that the client has heard. */
  readonly talk: (peer: Peer, served: Served) => Promise<unknown>;
  readonly expected: unknown;
  readonly needs?: readonly Need[];
}

export interface Refusal {
  readonly title: string;
  readonly path: string;
  readonly handshake?: Handshake;
  /** Status and body of the response; the status is `null` if the handshake is completed and closed with the code. */
  readonly expected: { readonly statusCode: number | null; readonly body: unknown; readonly code?: number };
}

/** The code and the reason of the server's close. */
async function endOf({ closed }: Peer): Promise<string> {
  const { code, reason } = await closed;
  return `${code} ${reason}`.trim();
}

/** The lines of the journal below a key. */
async function journal({ send }: Served, key: string, count: number): Promise<unknown> {
  return (await send("GET", `/admin/journal/${key}?count=${count}`)).json;
}

const member = (token: string): Handshake => ({ headers: { authorization: `Bearer ${token}` } });

export const conversations: readonly Conversation[] = [
  {
    title: "checks, fills in and cuts messages in both directions",
    path: "/v1/rooms/north?ticket=ada&greeting=hello",
    async talk(peer) {
      await peer.sendJson({ text: "a", x: 1 });
      await peer.sendJson({ text: "b", times: 2 });
      return [await peer.receiveJson(), await peer.receiveJson(), await peer.receiveJson(), await peer.receiveJson()];
    },
    expected: [
      { room: "north", by: "the room", text: "hello" },
      { room: "north", by: "ada", text: "a" },
      { room: "north", by: "ada", text: "b" },
      { room: "north", by: "ada", text: "b" },
    ],
  },
  {
    title: "serves somebody without a ticket, and closes with a code and a reason of the route",
    path: "/v1/rooms/a%2Fb",
    async talk(peer, served) {
      await peer.sendJson({ text: "hi" });
      const said = await peer.receiveJson();
      await peer.sendJson({ text: "bye" });
      return [said, await endOf(peer), await journal(served, "a%2Fb", 2)];
    },
    expected: [{ room: "a/b", by: "somebody", text: "hi" }, "4000 bye", ["somebody was told good-bye", "left"]],
  },
  {
    title: "sends every response to messages that arrive together with the client's close",
    path: "/v1/rooms/closing",
    async talk(peer, served) {
      await peer.sendJson({ text: "a", times: 2 });
      const closing = peer.close(1000, "done");
      const heard = [await peer.receiveJson(), await peer.receiveJson()];
      await closing;
      return [heard, await endOf(peer), await journal(served, "closing", 2)];
    },
    expected: [
      [
        { room: "closing", by: "somebody", text: "a" },
        { room: "closing", by: "somebody", text: "a" },
      ],
      "1000 done",
      ["somebody was told good-bye", "left"],
    ],
  },
  {
    title: "closes with 1007 for a message that does not fit",
    path: "/v1/rooms/north",
    async talk(peer) {
      await peer.sendJson({ text: "a".repeat(21) });
      return endOf(peer);
    },
    expected: "1007 Invalid message",
  },
  {
    title: "closes with 1007 for text that is not JSON where it has a schema",
    path: "/v1/rooms/north",
    async talk(peer) {
      await peer.sendText("{");
      return endOf(peer);
    },
    expected: "1007 Invalid message",
  },
  {
    title: "closes with 1011 for an error that nobody expects, without a word of it",
    path: "/v1/rooms/failing",
    async talk(peer, served) {
      await peer.sendJson({ text: "fail" });
      return [await endOf(peer), await journal(served, "failing", 3)];
    },
    expected: ["1011 Internal Server Error", ["Error: a secret of the room", "left", "somebody was told good-bye"]],
  },
  {
    title: "closes with 1009 for a message beyond the limit of the App",
    path: "/v1/rooms/north/echo",
    async talk(peer) {
      await peer.sendText("a".repeat(1025));
      return (await endOf(peer)).slice(0, 4);
    },
    expected: "1009",
  },
  {
    title: "echoes texts and bytes in the protocol and with the headers that it chooses",
    path: "/v1/rooms/north/echo",
    handshake: { subprotocols: ["v2", "v1"] },
    async talk(peer) {
      await peer.sendText("ü");
      const text = await peer.receiveText();
      await peer.sendBytes(Uint8Array.of(0, 255));
      return [text, [...(await peer.receiveBytes())], peer.subprotocol, peer.headers["x-room"]];
    },
    expected: ["ü", [0, 255], "v2", "north"],
  },
  {
    title: "echoes what arrives before a close, then ends with the client's code",
    path: "/v1/rooms/north/echo",
    async talk(peer) {
      await peer.sendText("last");
      const heard = await peer.receiveText();
      await peer.close(4999, "own");
      return [heard, await endOf(peer)];
    },
    expected: ["last", "4999 own"],
  },
  {
    title: "closes with 1000 if the handler returns",
    path: "/v1/rooms/north/echo",
    async talk(peer) {
      await peer.sendText("return");
      return endOf(peer);
    },
    expected: "1000",
  },
  {
    title: "knows a member by the header of the handshake",
    path: "/v1/rooms/north/members",
    handshake: member("token-of-bob"),
    async talk(peer) {
      const name = await peer.receiveText();
      await peer.sendText("back");
      return [name, new TextDecoder().decode(await peer.receiveBytes()), await endOf(peer)];
    },
    expected: ["bob", "back", "1000"],
  },
  {
    title: "knows a badge by a cookie, and converts the path",
    path: "/v1/rooms/north/badges/7",
    handshake: { headers: { cookie: "badge=ada; other=1" } },
    async talk(peer) {
      return [await peer.receiveJson(), await endOf(peer)];
    },
    expected: [{ n: 7, badge: "ada", cookies: ["badge", "other"], scheme: "ws:" }, "1000"],
  },
  {
    title: "runs the guard of a router, which notes where the client is",
    path: "/v1/rooms/north/echo",
    async talk(_peer, served) {
      return journal(served, "visits", 1);
    },
    expected: ["websocket /v1/rooms/north/echo from string"],
    needs: ["client"],
  },
  {
    title: "talks with a handler that is written apart, with its types",
    path: "/v1/kiosk/slots/7/keys",
    async talk(peer) {
      await peer.sendJson({ key: "a" });
      const shown = await peer.receiveJson();
      await peer.sendJson({ key: "ab" });
      return [shown, await endOf(peer)];
    },
    expected: [{ text: "7a" }, "1007 Invalid message"],
  },
  {
    title: "reaches a WebSocket of a mounted App behind its guard",
    path: "/partner/news",
    handshake: member("token-of-ada"),
    talk: async (peer) => [await peer.receiveText(), await endOf(peer)],
    expected: ["/partner /partner/news", "1000"],
  },
  {
    title: "reaches a WebSocket of an application on the protocol itself",
    path: "/clock",
    async talk(peer) {
      await peer.sendText("tock");
      await peer.sendBytes(Buffer.from("bytes"));
      const heard = [await peer.receiveText(), await peer.receiveText()];
      await peer.sendText("stop");
      return [heard, await endOf(peer)];
    },
    expected: [["tick tock", "tick bytes"], "4001 stopped"],
  },
];

export const refusals: readonly Refusal[] = [
  {
    title: "refuses a handshake with the exception of its handler",
    path: "/v1/rooms/north/full",
    expected: { statusCode: 403, body: { detail: "The room is full" } },
  },
  {
    title: "shows a browser a code of the application's own",
    path: "/v1/rooms/north/locked",
    expected: { statusCode: null, body: "", code: 4403 },
  },
  {
    title: "shows a browser 4004 if no route matches",
    path: "/v1/rooms/north/",
    expected: { statusCode: null, body: "", code: 4004 },
  },
  {
    title: "refuses a handshake without credentials",
    path: "/v1/rooms/north/members",
    expected: { statusCode: 401, body: { detail: "Not authenticated" } },
  },
  {
    title: "refuses credentials that nobody has",
    path: "/v1/rooms/north/members",
    handshake: member("x"),
    expected: { statusCode: 401, body: { detail: "Unknown credentials" } },
  },
  {
    title: "refuses a handshake whose path does not fit, with the fault",
    path: "/v1/rooms/north/badges/10",
    handshake: { headers: { cookie: "badge=a" } },
    expected: {
      statusCode: 422,
      body: {
        detail: [
          { type: "less_than_equal", loc: ["path", "n"], msg: "Input should be less than or equal to 9", input: 10 },
        ],
      },
    },
  },
  {
    title: "guards the WebSockets of a mounted App",
    path: "/partner/news",
    expected: { statusCode: 401, body: { partner: "Not authenticated" } },
  },
  {
    title: "refuses a handshake with the response of an application on the protocol itself",
    path: "/clock/never",
    expected: { statusCode: 426, body: "no" },
  },
];
