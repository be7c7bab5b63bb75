/** Messages of the server as frames of RFC 6455 §5.2. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { ClientDisconnect } from "../../../src/common/exceptions.js";
import type { ServeOptions } from "../../../src/node.js";
import { served } from "./_http.js";
import { accept, Client, sending, socketApp } from "./_websocket.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const LENGTHS = [0, 1, 125, 126, 127, 16_383, 16_384, 16_385, 65_535, 65_536];
const TEXTS = LENGTHS.flatMap((length) => ["a", "\0", "é", "€", "𝄞"].map((character) => character.repeat(length)));
const BYTES = LENGTHS.map((length) => Buffer.alloc(length, 0xfe));

describe("a message of the server", () => {
  const cert = fixture("localhost.cert.pem");
  it.each<[string, ServeOptions]>([
    ["plain", {}],
    ["compressed", { webSocketCompression: true }],
    ["over TLS", { tls: { cert, key: fixture("localhost.key.pem") } }],
  ])("arrives complete and in order at any length: %s", async (_what, options) => {
    const messages = [...TEXTS, ...BYTES];
    const app = socketApp(async (_scope, _receive, send) => {
      await send(accept);
      for (const message of messages) {
        const content = typeof message === "string" ? { text: message } : { bytes: message };
        void send({ type: "websocket.send", ...content });
      }
      await send({ type: "websocket.send", text: "the end" });
    });
    await using server = await served(app, options);
    await using client = new Client(server, "/", [], { ca: cert });
    expect(await client.received(messages.length + 1)).toEqual([...messages, "the end"]);
    expect(await client.closed).toEqual([1000, ""]);
  });

  it("is a part of a larger buffer if the application sends one", async () => {
    const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    await using server = await served(sending(accept, { type: "websocket.send", bytes }));
    await using client = new Client(server);
    expect(await client.received(1)).toEqual([Buffer.from([2, 3])]);
  });

  it("is not sent after the close of the client", async () => {
    let failure: unknown;
    const app = socketApp(async (_scope, receive, send) => {
      await send(accept);
      await receive();
      await receive();
      try {
        await send({ type: "websocket.send", text: "late" });
      } catch (error) {
        failure = error;
      }
    });
    await using server = await served(app);
    await using client = new Client(server);
    await client.opened;
    client.socket.close(1000);
    expect(await client.closed).toEqual([1000, ""]);
    await server.close();
    expect(client.messages).toEqual([]);
    expect(failure).toBeInstanceOf(ClientDisconnect);
  });
});
