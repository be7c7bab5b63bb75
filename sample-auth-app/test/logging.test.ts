import { describe, expect, it } from "@jest/globals";

import { openLog } from "./support.js";

describe("a log", () => {
  it("writes an object a line: time, level, message and fields", () => {
    const { log, lines } = openLog();
    log.info({ user: "alice" }, "login");
    log.warn({}, "refused");
    log.debug({}, "not written");
    expect(lines.every((line) => line.endsWith("}\n"))).toBe(true);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time, level: "info", message: "login", user: "alice" },
      { time, level: "warn", message: "refused" },
    ]);
  });

  it("puts the fields of its parents on each line of a child", () => {
    const { log, lines } = openLog();
    log.child({ requestId: 1 }).child({ address: "::1" }).info({ user: "alice" }, "login");
    expect(JSON.parse(lines.join())).toMatchObject({ requestId: 1, address: "::1", user: "alice" });
  });

  it("tells an error with its stack and its causes", () => {
    const { log, lines } = openLog();
    log.error({ err: new Error("outer", { cause: new TypeError("inner") }) }, "failed");
    expect(JSON.parse(lines.join())).toMatchObject({
      err: {
        name: "Error",
        message: "outer",
        stack: expect.stringContaining("logging.test"),
        cause: { name: "TypeError", message: "inner" },
      },
    });
  });

  it("keeps a line break inside its string", () => {
    const { log, lines } = openLog();
    log.info({ user: 'x\r\n{"level":"info"}' }, "a\nb");
    expect(
      lines
        .join("")
        .trimEnd()
        .split(/[\r\n]/),
    ).toHaveLength(1);
  });
});
