import { describe, expect, it } from "@jest/globals";

import { Limiter } from "../src/limiter.js";
import { UnavailableError } from "../src/unavailable.js";

/** A task that runs until it is told to end. */
function createTask() {
  let end: (value: string) => void = () => {};
  const ended = new Promise<string>((resolve) => (end = resolve));
  let isRunning = false;
  return {
    end,
    isRunning: () => isRunning,
    run: () => {
      isRunning = true;
      return ended;
    },
  };
}

describe("a limiter", () => {
  it("runs so many at once and the next when one has ended, in the order of the calls", async () => {
    const limiter = new Limiter(2, 10);
    const tasks = [createTask(), createTask(), createTask(), createTask()] as const;
    const results = tasks.map((task) => limiter.run(task.run));
    expect(tasks.map((task) => task.isRunning())).toEqual([true, true, false, false]);
    tasks[1].end("second");
    expect(await results[1]).toBe("second");
    expect(tasks.map((task) => task.isRunning())).toEqual([true, true, true, false]);
    tasks[0].end("first");
    tasks[2].end("third");
    tasks[3].end("fourth");
    expect(await Promise.all(results)).toEqual(["first", "second", "third", "fourth"]);
  });

  it("refuses at once when its line is full, and takes the next when there is room again", async () => {
    const limiter = new Limiter(1, 1);
    const task = createTask();
    const running = limiter.run(task.run);
    const waiting = limiter.run(async () => "waited");
    await expect(limiter.run(async () => "refused")).rejects.toThrow(UnavailableError);
    task.end("done");
    expect(await Promise.all([running, waiting])).toEqual(["done", "waited"]);
    expect(await limiter.run(async () => "after")).toBe("after");
  });

  it("gives the place of a task that fails to the next", async () => {
    const limiter = new Limiter(1, 1);
    const failing = limiter.run(() => Promise.reject(new Error("no")));
    const next = limiter.run(async () => "next");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});
