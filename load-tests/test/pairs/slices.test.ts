import { describe, expect, it } from "@jest/globals";
import { alternate, type Sliced, type Slicing } from "../../src/pairs/slices.js";

const SLICING: Slicing = { sliceUs: 1_000, warmUp: { requests: 300, leastUs: 6_000, longestUs: 9_000 }, slices: 5 };
const NAMES = ["GET /", "GET /users", "POST /"];

/** A program whose requests take so many microseconds, which records its slices. */
function program(name: string, us: (slice: number) => number, log: string[], faults: readonly string[] = []): Sliced {
  let slices = 0;
  return {
    ready: async () => ({ names: NAMES, faults }),
    slice: async (row, requests) => {
      log.push(`${name}${row}:${requests}`);
      return requests * us(slices++);
    },
    stop: async () => {},
  };
}

async function run(launch = 0, wants: (row: string) => boolean = () => true, theirs = (_slice: number) => 20) {
  const log: string[] = [];
  const sides = { ours: program("a", () => 10, log), theirs: program("b", theirs, log) };
  return { log, rows: await alternate(sides, launch, wants, SLICING) };
}

describe("slices of two programs", () => {
  it("give the ratio of the speeds, and the processor time per request, of each wanted row", async () => {
    const { rows } = await run(0, (row) => row !== "POST /");
    expect(rows).toEqual([
      { name: "GET /", ratio: 2, cost: { ours: 10, theirs: 20 } },
      { name: "GET /users", ratio: 2, cost: { ours: 10, theirs: 20 } },
    ]);
  });

  it("have as many requests as fill a slice, and alternate in both orders", async () => {
    const wants = (row: string) => row === "GET /";
    const even = (await run(0, wants)).log.slice(-10).join(" ");
    expect(even).toBe("a0:100 b0:50 b0:50 a0:100 a0:100 b0:50 b0:50 a0:100 a0:100 b0:50");
    const odd = (await run(1, wants)).log.slice(-10).join(" ");
    expect(odd).toBe("b0:50 a0:100 a0:100 b0:50 b0:50 a0:100 a0:100 b0:50 b0:50 a0:100");
  });

  it("follow a warm-up, which is longest for the first row of a method", async () => {
    const { log } = await run();
    const warmUps = [0, 1, 2].map((row) => log.filter((slice) => slice.startsWith(`a${row}:`)).length - SLICING.slices);
    expect(warmUps[1]).toBeLessThan(warmUps[0] ?? 0);
    expect(warmUps[2]).toBe(warmUps[0]);
  });

  it("follow a warm-up of so many requests, unless they take too long", async () => {
    const wants = (row: string) => row === "GET /";
    const warmUpOf = async (us: number) => {
      const { log } = await run(0, wants, () => us);
      const slices = log.filter((slice) => slice.startsWith("b0:")).slice(0, -SLICING.slices);
      return slices.reduce((sum, slice) => sum + Number(slice.slice("b0:".length)), 0);
    };
    expect(await warmUpOf(20)).toBeGreaterThanOrEqual(300);
    expect(await warmUpOf(1_000)).toBeLessThan(300);
  });

  it("ignore a disturbed slice", async () => {
    const { rows } = await run(
      0,
      (row) => row === "GET /",
      (slice) => (slice === 9 ? 500 : 20),
    );
    expect(rows[0]?.ratio).toBe(2);
  });

  it("end with a wrong response of the check", async () => {
    const log: string[] = [];
    const sides = { ours: program("a", () => 10, log), theirs: program("b", () => 10, log, ["GET /: got 500"]) };
    await expect(alternate(sides, 0, () => true, SLICING)).rejects.toThrow("GET /: got 500");
    expect(log).toEqual([]);
  });
});
