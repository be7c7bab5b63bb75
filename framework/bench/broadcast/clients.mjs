/** Half of the subscribers: plain sockets that look for the time in each message, so that they cost little themselves. */
import { once } from "node:events";
import { connect } from "node:net";

const AT = /"at":([\d.]+)/g;
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";

const upgrade = (target) =>
  `GET ${target} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
  `Sec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n`;

/** A text frame of a client, masked with zeros: RFC 6455 §5.3. */
const frame = (text) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

/** A ping of engine.io: a text frame of one byte. */
const PING = String.fromCharCode(0x81, 1) + "2";

/** The request of each kind, and the bytes after which its subscription is active. */
const KINDS = {
  websocket: {
    request: upgrade("/socket"),
    isReady: (text) => text.includes("101 "),
    follow: (socket, _text, chunk) => pong(socket, chunk),
  },
  sse: { request: "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n", isReady: (text) => text.includes(" 200 ") },
  "orpc-websocket": {
    request: upgrade("/socket"),
    isReady: (text) => text.includes("text/event-stream"),
    follow: (socket, text, chunk) => {
      if (text.includes("101 ")) socket.write(frame('{"i":"1","p":{"u":"/news"}}'));
      else pong(socket, chunk);
    },
  },
  "orpc-sse": {
    request:
      "POST /rpc/news HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    isReady: (text) => text.includes(" 200 "),
  },
  "socket.io": {
    request: upgrade("/socket.io/?EIO=4&transport=websocket"),
    isReady: (text) => text.includes('40{"sid"'),
    follow: (socket, text) => {
      if (text.includes("101 ")) socket.write(frame("40"));
      else if (text.includes(PING)) socket.write(frame("3"));
    },
  },
};

/** Sends a pong. A server pings idle connections, and closes those that do not reply: RFC 6455 §5.5.2. */
function pong(socket, chunk) {
  const length = chunk[1];
  if (chunk[0] !== 0x89 || length > 125) return;
  socket.write(Buffer.concat([Buffer.from([0x8a, 0x80 | length, 0, 0, 0, 0]), chunk.subarray(2, 2 + length)]));
}

const latencies = [];
let onMessage = () => {};

async function subscribe(port, { request, isReady, follow }) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  socket.write(request);
  await new Promise((resolve, reject) => {
    let isOpen = false;
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("A subscriber was disconnected.")));
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      if (!isOpen && isReady(text)) {
        isOpen = true;
        resolve();
      }
      follow?.(socket, text, chunk);
      for (const [, at] of text.matchAll(AT)) {
        latencies.push(performance.timeOrigin + performance.now() - Number(at));
        onMessage();
      }
    });
  });
}

async function subscribeAll({ connect: count, port, kind }) {
  for (let opened = 0; opened < count; opened += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - opened) }, () => subscribe(port, KINDS[kind])));
  }
  process.send("connected");
}

process.on("message", (order) => {
  const { expect } = order;
  if (expect === undefined) return void subscribeAll(order);
  latencies.length = 0;
  const reply = () => process.send(latencies);
  const giveUp = setTimeout(reply, 120_000);
  onMessage = () => {
    if (latencies.length < expect) return;
    clearTimeout(giveUp);
    reply();
    onMessage = () => {};
  };
  return undefined;
});
process.on("disconnect", () => process.exit());
