import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { JoinedResponse } from "../../src/node/joined-response.js";

/** What the system gets in one write, for each answer to some requests on one connection. */
async function writesOf(
  answer: (response: JoinedResponse, index: number) => void,
  requests = 1,
): Promise<{ buffers: number[]; received: string }> {
  const buffers: number[] = [];
  let count = 0;
  const server = createServer({ ServerResponse: JoinedResponse }, (_request, response) => answer(response, count++));
  server.on("connection", (socket: Socket & { _writev: unknown; _write: unknown }) => {
    const { _writev: writev, _write: write } = socket as never as Record<string, (...args: unknown[]) => void>;
    Object.assign(socket, {
      _writev: (chunks: unknown[], done: unknown) => (buffers.push(chunks.length), writev?.call(socket, chunks, done)),
      _write: (...args: unknown[]) => (buffers.push(1), write?.call(socket, ...args)),
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests - 1));
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  let received = "";
  client.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  await once(client, "close");
  server.close();
  await once(server, "close");
  return { buffers, received };
}

const withLength = (response: ServerResponse, length: number) =>
  response.writeHead(200, ["Content-Length", `${length}`]);

describe("a response that ends with a whole body", () => {
  it("hands head and text on in one buffer", async () => {
    const { buffers, received } = await writesOf((response) => {
      withLength(response, 5);
      response.endWhole("hello");
    });
    expect(buffers).toEqual([1]);
    expect(received).toMatch(/\r\n\r\nhello$/);
  });

  it("hands head and bytes on in two", async () => {
    const { buffers, received } = await writesOf((response) => {
      withLength(response, 3);
      response.endWhole(Uint8Array.of(0x61, 0x62, 0xe9));
    });
    expect(buffers).toEqual([2]);
    expect(received).toMatch(/\r\n\r\nab\u00e9$/);
  });

  it("is finished when its bytes are with the system, and told of once", async () => {
    let finished = 0;
    await writesOf((response) => {
      response.on("finish", () => finished++);
      withLength(response, 5);
      response.endWhole("hello");
    });
    expect(finished).toBe(1);
  });

  it("keeps its place behind the answers to earlier requests", async () => {
    const late: (() => void)[] = [];
    const { received } = await writesOf((response, index) => {
      const end = () => {
        withLength(response, 1);
        response.endWhole(String(index));
      };
      late.push(end);
      if (late.length === 3) for (const each of late.toReversed()) each();
    }, 3);
    expect(received.split(/HTTP\/1\.1 200 OK/).map((part) => part.slice(-1))).toEqual(["", "0", "1", "2"]);
  });

  it("streams as any other when it is written in parts", async () => {
    const { received } = await writesOf((response) => {
      response.write("ab");
      response.end("cd");
    });
    expect(received).toMatch(/Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n$/);
  });

  it("ends chunked when it says nothing of its length", async () => {
    const { received } = await writesOf((response) => {
      response.setHeader("Transfer-Encoding", "chunked");
      response.endWhole("hello");
    });
    expect(received).toMatch(/\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
  });
});
