import { afterEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { SCENES, type RealtimeLoad } from "../../src/realtime/load.js";
import { MEASURES } from "../../src/realtime/scenes.js";

let server: Server;
const sockets = new Set<Duplex>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** A server whose WebSockets give each message of the client's to `answer`, which gives the text to send back. */
async function serveEcho(answer: (text: Buffer) => Buffer): Promise<RealtimeLoad> {
  server = createServer().on("upgrade", (_request, socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    socket.on("data", (frame: Buffer) => {
      const mask = frame.subarray(2, 6);
      const text = answer(frame.subarray(6).map((byte, index) => byte ^ (mask[index % 4] ?? 0)) as Buffer);
      socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // An address of a socket, for the server does not listen on a path.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const amounts = {
    echoing: 2,
    messages: 10,
    receivers: 2,
    broadcasts: 2,
    streams: 2,
    events: 2,
    idle: 2,
    windowMs: 1,
  };
  return { ...amounts, scene: "echo", url, serverPid: 0 };
}

describe("the echo", () => {
  it("counts the messages that came back", async () => {
    const { name, figures } = await MEASURES.echo(await serveEcho((text) => text));
    expect(name).toBe("echo, 64 B");
    expect(figures["messages"]).toBe(10);
    expect(figures["perSecond"]).toBeGreaterThan(0);
  });

  it("fails for a message that differs", async () => {
    const load = await serveEcho((text) => Buffer.from(text.toString().replace("00000003", "00000002")));
    await expect(MEASURES.echo(load)).rejects.toThrow("expected message 3, got 00000002");
  });

  it("fails when the server closes a connection", async () => {
    let messages = 0;
    const load = await serveEcho((text) => {
      if (++messages === 5) for (const socket of sockets) socket.destroy();
      return text;
    });
    await expect(MEASURES.echo(load)).rejects.toThrow("the server closed a connection");
  });
});

it("every scene has its measurement", () => {
  expect(Object.keys(MEASURES)).toEqual([...SCENES]);
});
