import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { WholeResponse } from "../../src/node/whole-response.js";

type Answer = (response: WholeResponse, index: number) => void;

/** What the client gets, and how many buffers the system got in each write. */
async function answered(
  answer: Answer,
  requests: readonly string[] = ["GET / HTTP/1.1\r\nHost: x\r\n\r\n"],
): Promise<{ buffers: number[]; received: string }> {
  const buffers: number[] = [];
  let count = 0;
  const server = createServer({ ServerResponse: WholeResponse, keepAliveTimeout: 65_000 }, (_request, response) => {
    answer(response, count++);
    if (count === requests.length) response.on("finish", () => response.req.socket.end());
  });
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
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
  client.write(requests.join(""));
  let received = "";
  client.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  await once(client, "close");
  server.close();
  await once(server, "close");
  return { buffers, received };
}

/** The same answer by `node:http` alone: the plain twin. */
function plain(status: number, headers: readonly string[], body: string | Uint8Array): Answer {
  return (response) => {
    response.writeHead(status, [...headers]);
    if (body.length === 0) response.end();
    else response.end(body, "latin1");
  };
}

const withoutDate = (received: string): string =>
  received.replaceAll(/Date: [A-Z][a-z]{2}, .* GMT\r\n/g, "Date: now\r\n");
const lengthOf = (body: string | Uint8Array): string[] => ["Content-Length", String(body.length)];
const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const BYTES = Uint8Array.of(0x61, 0x62, 0xe9);

describe("a response that is sent whole", () => {
  it.each<[what: string, status: number, headers: string[], body: string | Uint8Array, request?: string]>([
    ["text", 200, ["Content-Type", "text/plain"], "hello"],
    ["bytes", 200, [], BYTES],
    ["text beyond ASCII", 200, [], "caf\u00e9"],
    ["nothing", 200, [], ""],
    ["a status of its own", 299, [], "x"],
    ["an error", 422, ["X-One", "1", "x-one", "2", "Set-Cookie", "a=1", "Set-Cookie", "b=2"], "{}"],
    ["a disposition", 200, ["Content-Disposition", 'attachment; filename="caf\u00e9"'], "x"],
    ["a date", 200, ["Date", "Thu, 01 Jan 1970 00:00:00 GMT"], "x"],
    ["the end of the connection", 200, ["connection", "close"], "x"],
    ["a connection to be kept", 200, ["Connection", "keep-alive", "Keep-Alive", "timeout=1"], "x"],
    ["HTTP/1.0", 200, [], "x", "GET / HTTP/1.0\r\n\r\n"],
    ["HTTP/1.0 to be kept", 200, [], "x", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"],
    ["a client that goes", 200, [], "x", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ])("is what node:http writes, byte for byte: %s", async (_what, status, rest, body, request = GET) => {
    const headers = [...rest, ...lengthOf(body)];
    const whole = await answered((response) => response.sendWhole(status, headers, body), [request]);
    const twin = await answered(plain(status, headers, body), [request]);
    expect(withoutDate(whole.received)).toBe(withoutDate(twin.received));
    expect(whole.received).toMatch(/\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  });

  it("closes where the client waits for 100 Continue in vain: what it sends next may be a body or a request", async () => {
    const { received } = await answered(
      (response) => response.sendWhole(200, lengthOf("x"), "x"),
      ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"],
    );
    expect(received).toMatch(/\r\nConnection: close\r\n\r\nx$/);
  });

  it("has the date of now", async () => {
    const before = Math.trunc(Date.now() / 1000);
    const { received } = await answered((response) => response.sendWhole(200, lengthOf("x"), "x"));
    const date = Date.parse(/Date: (.*)\r\n/.exec(received)?.[1] ?? "") / 1000;
    expect(date).toBeGreaterThanOrEqual(before);
    expect(date).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it("hands head and text on in one buffer", async () => {
    const { buffers } = await answered((response) => response.sendWhole(200, lengthOf("hello"), "hello"));
    expect(buffers).toEqual([1]);
  });

  it("is finished when its bytes are with the system, and told of once", async () => {
    let finished = 0;
    const { received } = await answered((response) => {
      response.on("finish", () => finished++);
      response.sendWhole(200, lengthOf("hello"), "hello");
      expect(response.headersSent).toBe(true);
      expect(response.statusCode).toBe(200);
      expect(response.writableEnded).toBe(true);
    });
    expect(received).toMatch(/hello$/);
    expect(finished).toBe(1);
  });

  it("keeps its place behind the answers to earlier requests", async () => {
    const late: (() => void)[] = [];
    const { received } = await answered(
      (response, index) => {
        late.push(() => response.sendWhole(200, lengthOf("0"), String(index)));
        if (late.length === 3) for (const each of late.toReversed()) each();
      },
      [GET, GET, GET],
    );
    expect(received.split(/HTTP\/1\.1 200 OK/).map((part) => part.slice(-1))).toEqual(["", "0", "1", "2"]);
  });

  it("streams as any other when it is written in parts", async () => {
    const { received } = await answered((response) => {
      response.write("ab");
      response.end("cd");
    });
    expect(received).toMatch(/Transfer-Encoding: chunked\r\n\r\n(?:2\r\nab\r\n2\r\ncd|4\r\nabcd)\r\n0\r\n\r\n$/);
  });
});
