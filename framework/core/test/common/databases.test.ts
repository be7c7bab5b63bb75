import { expect, it } from "@jest/globals";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inTime, isUnavailable, postgresqlStart } from "../../src/common/databases.js";

const coded = (code: string) => Object.assign(new Error("failed"), { code });

it.each(["ECONNREFUSED", "EAI_AGAIN", "57P01", "53300", "08006", "57014", "25P03", "ERR_TLS_CERT_ALTNAME_INVALID"])(
  "an error %s says that the database is unavailable",
  (code) => {
    expect(isUnavailable(coded(code))).toBe(true);
    expect(isUnavailable(new AggregateError([coded(code), coded("23505")]))).toBe(true);
  },
);

it.each(["23505", "42P01", "ERR_INVALID_ARG_TYPE"])("an error %s is of another kind", (code) => {
  expect(isUnavailable(coded(code))).toBe(false);
});

it("an error of the driver without a code means this by its message", () => {
  expect(isUnavailable(new Error("Connection terminated unexpectedly"))).toBe(true);
  expect(isUnavailable(new Error("relation does not exist"))).toBe(false);
});

it.each([
  ["linux", "sudo systemctl start postgresql"],
  ["darwin", "brew services start postgresql"],
  ["win32", "Start-Service postgresql*"],
] as const)("the command that starts PostgreSQL is one of %s", (platform, command) => {
  expect(postgresqlStart(platform)).toBe(command);
});

it("a reply is awaited for its time, and a later error of it is handled", async () => {
  expect(await inTime(Promise.resolve("PONG"), 1_000)).toBe("PONG");
  let fail: (error: Error) => void = () => {};
  const reply = new Promise<never>((_, reject) => (fail = reject));
  let lateCount = 0;
  await expect(inTime(reply, 1, () => lateCount++)).rejects.toThrow("No reply within 1 ms.");
  fail(new Error("connection closed"));
  await nextTurn();
  expect(lateCount).toBe(1);
});
