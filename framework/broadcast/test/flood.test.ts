import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { HAS_REDIS, startRedis } from "../../test/support/redis-server.js";

const describeSlowly = HAS_REDIS && IS_SLOW ? describe : describe.skip;

/** Of each kind, whose clients do not read. */
const UNREAD = 10;
/** 256 messages for each subscriber, and buffers of sockets: 200,000 messages would need 60 MB. */
const MOST_BYTES = 16 << 20;

/** Starts a program of this folder, which is killed at the end. */
function start(file: string, redis: string): { child: ChildProcess } & AsyncDisposable {
  const child = fork(new URL(file, import.meta.url), [redis], { execArgv: ["--import", "tsx"] });
  const exited = once(child, "exit");
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The next message of a process, which it may have sent already. */
function inboxOf(child: ChildProcess): (count: number) => Promise<unknown[]> {
  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  return async (count) => {
    while (messages.length < count) await once(child, "message");
    return messages.splice(0, count);
  };
}

/** A client that sends a request and does not read. */
function unread(url: string, head: string): { closed: Promise<unknown> } {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  socket.pause();
  socket.on("error", () => {});
  socket.write(`GET ${head}\r\nHost: a\r\n\r\n`);
  return {
    get closed() {
      socket.resume();
      return once(socket, "close");
    },
  };
}

const UPGRADE =
  "/socket HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";

interface Seen {
  readonly received: number;
  readonly gaps: number;
  readonly errors: readonly string[];
  readonly heapBytes: number;
}

describeSlowly("a topic with 100,000 messages per second", () => {
  it("does not keep the server from responding, ends slow subscribers, and needs no more memory", async () => {
    await using redis = await startRedis();
    await using server = start("./_flooded.ts", redis.path);
    const next = inboxOf(server.child);
    const [url] = (await next(1)) as [string];
    const get = async (path: string) => (await fetch(url + path)).json();
    const before = (await get("/seen")) as Seen;
    const slow = get("/slow");
    const clients = Array.from({ length: UNREAD }, () => [
      unread(url, "/events HTTP/1.1"),
      unread(url, UPGRADE),
    ]).flat();
    await next(1 + 2 * UNREAD);

    await using publisher = start("./_publisher.ts", redis.path);
    const done = once(publisher.child, "message");
    let isOver = false;
    void done.then(() => (isOver = true));
    while (((await get("/seen")) as Seen).received === 0);
    for (let responses = 0; responses < 5; responses++) {
      expect(await get("/health")).toEqual({ ok: true });
      expect(isOver).toBe(false);
    }
    publisher.child.send("stop");
    const [sent] = (await done) as [number];
    expect(sent).toBeGreaterThanOrEqual(200_000);

    // They read again: a subscriber learns that it was too slow once its last message is sent.
    const closed = Promise.all(clients.map((client) => client.closed));
    expect(await next(UNREAD)).toEqual(Array.from({ length: UNREAD }, () => "SlowSubscriberError"));
    await closed;
    await fetch(`${url}/over`, { method: "POST" });
    expect(await slow).toBe("SlowSubscriberError");
    // If the server is too slow for the rate, Redis closes its connection, and the subscriber learns of the gap.
    let after = (await get("/seen")) as Seen;
    while (after.gaps === 0 && after.received < sent) after = (await get("/seen")) as Seen;
    expect(after.errors).toEqual([]);
    expect(after.heapBytes - before.heapBytes).toBeLessThan(MOST_BYTES);
  });
});
