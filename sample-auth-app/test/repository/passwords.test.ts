import { expect, it, jest } from "@jest/globals";
import argon2 from "argon2";

import { createPasswords } from "../../src/database.js";

it("hashes at most four passwords concurrently, and does not block the event loop", async () => {
  const passwords = await createPasswords();
  const hash = await passwords.hash("correct horse");
  const real = argon2.verify;
  let [running, most] = [0, 0];
  const verify = jest.spyOn(argon2, "verify").mockImplementation(async (...args) => {
    most = Math.max(most, (running += 1));
    return real(...args).finally(() => (running -= 1));
  });
  const done = new AbortController();
  const verified = Promise.all(Array.from({ length: 12 }, () => passwords.verify("correct horse", hash)));
  void verified.finally(() => done.abort());
  let turns = 0;
  for (; !done.signal.aborted; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  verify.mockRestore();
  expect(await verified).toEqual(Array(12).fill(true));
  expect(most).toBeLessThanOrEqual(4);
  expect(turns).toBeGreaterThan(100);
});
