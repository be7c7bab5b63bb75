import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { httpApp, readBody, respond, served, Wire } from "./_http.js";
import { accepted, HOST, refused } from "./_http1-table.js";
import { connections } from "./_http1-mutations.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const GOOD = `GET /good HTTP/1.1\r\n${HOST}\r\n`;
/** Bytes that the heap may differ by: code that was compiled meanwhile. */
const MAX_HEAP_GROWTH = 1 << 20;

/** Streams of every kind: refused, cut off in the middle, mutated; on first requests and on later ones. */
const streams: string[] = [
  ...refused.map(([, request]) => request),
  ...refused.map(([, request]) => GOOD + request),
  ...accepted.map(([, request]) => request.slice(0, request.length >> 1)),
  ...accepted.map(([, request]) => GOOD + request.slice(0, -1)),
  `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(10_000)}`,
  `POST / HTTP/1.1\r\n${HOST}Content-Length: 999999\r\n\r\n${"a".repeat(200_000)}`,
  GOOD.repeat(2000),
  // A list that is split by a pattern takes the square of its blanks: 0.3 s for each of these.
  `GET / HTTP/1.1\r\n${HOST}Connection: a${" ".repeat(15_900)}b\r\n\r\n`.repeat(20),
  GOOD.repeat(100) + "\r\n".repeat(10_000),
  ...fc.sample(connections, { seed: 1, numRuns: 200 }),
];

/** The sockets and timers of this process. */
function resources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /^(?:TCP|Timeout|Immediate)/.test(name));
}

/** The same, once it is as it was or a moment has passed. */
async function settled(before: readonly string[]): Promise<string[]> {
  const end = performance.now() + 5000;
  while (resources().length !== before.length && performance.now() < end) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return resources();
}

/** Sends, and leaves it to the server to end the connection: the client does not end its own side before. */
async function attack(port: number, text: string): Promise<void> {
  const socket: Socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).resume();
  const closed = new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  socket.write(text, "latin1");
  await using next = new Wire(port);
  await next.write(GOOD).until(/<\/good>$/);
  await closed;
  socket.destroy();
}

async function heapUsed(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

describe("a server under hostile streams", () => {
  it("responds to a valid request during each, ends all of them, and keeps no connection, timer or byte", async () => {
    expect(streams.length).toBeGreaterThanOrEqual(350);
    await using server = await served(
      httpApp(async (scope, receive, send) => {
        await readBody(receive);
        await respond(send, 200, `<${scope.path}>`);
      }),
      { timeouts: { headersMs: 200, requestMs: 300, keepAliveMs: 200 } },
    );
    const round = async () => {
      for (let at = 0; at < streams.length; at += 50) {
        await Promise.all(streams.slice(at, at + 50).map((text) => attack(server.port, text)));
      }
    };
    const before = resources();
    await round();
    const heapBefore = await heapUsed();
    await round();
    const heapAfter = await heapUsed();
    expect(await settled(before)).toEqual(before);
    expect(heapAfter - heapBefore).toBeLessThan(MAX_HEAP_GROWTH);
    expect(server.logger.lines.filter(({ level }) => level !== "info" && level !== "debug")).toEqual([]);
  });
});
