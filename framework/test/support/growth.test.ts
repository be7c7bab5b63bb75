import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { isLinear } from "./growth.js";

describe("isLinear", () => {
  let microseconds = 0;
  const taking = (time: (size: number) => number) => (size: number) => () => void (microseconds += time(size));
  beforeEach(() => {
    jest.spyOn(process, "cpuUsage").mockImplementation(() => ({ user: microseconds, system: 0 }));
  });
  afterEach(() => void jest.restoreAllMocks());

  it("accepts work in proportion to its input", async () => {
    expect(
      await isLinear(
        taking((size) => size),
        1000,
      ),
    ).toBe(true);
  });

  it("rejects quadratic work", async () => {
    expect(
      await isLinear(
        taking((size) => (size * size) / 1000),
        1000,
      ),
    ).toBe(false);
  });

  it("accepts work that one of four tries finds to be linear", async () => {
    let tries = 0;
    const disturbed = taking((size) => (size === 64_000 && ++tries < 4 ? size * size : size));
    expect(await isLinear(disturbed, 1000)).toBe(true);
  });

  it("ignores the growth of work that takes next to no time", async () => {
    expect(
      await isLinear(
        taking((size) => (size === 1000 ? 1 : 10_000)),
        1000,
      ),
    ).toBe(true);
  });
});
