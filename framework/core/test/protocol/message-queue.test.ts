import { describe, expect, it } from "@jest/globals";
import { MessageQueue } from "../../src/protocol/message-queue.js";

describe("a message queue", () => {
  it("gives what came before it was asked for, then what is waited for, in order", async () => {
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

  it("gives its end behind all messages, as often as it is asked, and to all who wait", async () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    const taken = [queue.take(), queue.take(), queue.take()];
    queue.end("last");
    queue.end("ignored");
    queue.fail(new Error("ignored"));
    expect(queue.hasEnded).toBe(true);
    expect(await Promise.all([...taken, queue.take()])).toEqual(["a", "last", "last", "last"]);
  });

  it("gives what came before it failed, then the error, which nobody has to handle", async () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    queue.fail(new Error("over"));
    expect(await queue.take()).toBe("a");
    await expect(queue.take()).rejects.toThrow("over");
    await expect(queue.take()).rejects.toThrow("over");
  });

  it("gives what has come without waiting", () => {
    const queue = new MessageQueue<string>();
    queue.push("a");
    expect([queue.shift(), queue.shift()]).toEqual(["a", undefined]);
  });
});
