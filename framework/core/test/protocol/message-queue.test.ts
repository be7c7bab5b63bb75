import { describe, expect, it } from "@jest/globals";
import { MessageQueue } from "../../src/protocol/message-queue.js";

describe("a message queue", () => {
  it("returns messages that arrived earlier, then awaited ones, in order", async () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    queue.push("b");
    expect(queue.length).toBe(2);
    const taken = [queue.take(), queue.take(), queue.take(), queue.take()];
    expect(queue.isAwaited).toBe(true);
    queue.push("c");
    queue.push("d");
    expect(queue.isAwaited).toBe(false);
    expect(await Promise.all(taken)).toEqual(["a", "b", "c", "d"]);
  });

  it("returns its end after all messages, every time, and to all waiting readers", async () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    const taken = [queue.take(), queue.take(), queue.take()];
    queue.end("last");
    queue.end("ignored");
    queue.fail(new Error("ignored"));
    expect(queue.hasEnded).toBe(true);
    expect(await Promise.all([...taken, queue.take()])).toEqual(["a", "last", "last", "last"]);
  });

  it("returns the messages from before its failure, then the error, which does not have to be handled", async () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    queue.fail(new Error("over"));
    expect(await queue.take()).toBe("a");
    await expect(queue.take()).rejects.toThrow("over");
    await expect(queue.take()).rejects.toThrow("over");
  });

  it("returns arrived messages without waiting", () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    expect([queue.shift(), queue.shift()]).toEqual(["a", undefined]);
  });
});
