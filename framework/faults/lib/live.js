/** Two servers of `live-program.js`, on a Redis that can be broken without harm to others. */
import { startRedis } from "./sample.js";
import { Server } from "./server.js";
import { Wire } from "./wire.js";

export const UPGRADE =
  "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
export const EVENTS = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n";

export class Live {
  static async open() {
    const live = new Live();
    live.redis = await startRedis();
    const options = [{ redis: live.redis.url }, { file: "live-program.js", args: ["--expose-gc"] }];
    live.servers = await Promise.all([0, 1].map(() => Server.start(...options)));
    live.wires = [];
    return live;
  }

  /** A client of a server that has sent a request. */
  connect(server, request) {
    const wire = new Wire(server.port).write(request);
    this.wires.push(wire);
    return wire;
  }

  /** Waits until a server has so many subscribers in all. */
  async subscribed(server, count) {
    await server.said(new RegExp(`(?:^subscribed$[^]*?){${count}}`, "m"));
  }

  async close() {
    for (const wire of this.wires) wire.destroy();
    await Promise.all(this.servers.map((server) => server.stop()));
    await this.redis[Symbol.asyncDispose]();
  }
}

/** Publishes a message. Gives the status. */
export async function publish(server, number, text = "") {
  const response = await fetch(`${server.url}/news`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ number, text }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Sends a request for a stream. */
export const ask = (server, path, { method = "GET", owner = "ada", signal } = {}) =>
  fetch(`${server.url}/streams/${path}`, { method, headers: { owner }, signal });
