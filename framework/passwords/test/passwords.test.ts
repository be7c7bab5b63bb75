import { availableParallelism } from "node:os";
import { describe, expect, it, jest } from "@jest/globals";
import argon2 from "argon2";

import { PoolFullError } from "tsgi/concurrency";
import { Passwords, type PasswordsOptions } from "../src/index.js";

/** The parameters that a test can afford. */
const CHEAP = { memoryKiB: 64, passes: 2, lanes: 1 };

const passwords = new Passwords(CHEAP);

describe("a password's hash", () => {
  it("is argon2id with the configured parameters, and a separate salt", async () => {
    const [one, two] = await Promise.all([passwords.hash("correct horse"), passwords.hash("correct horse")]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=64,t=2,p=1\$/);
    expect(two).not.toBe(one);
  });

  it("is verified only by the password", async () => {
    const hash = await passwords.hash("correct horse");
    expect(await passwords.verify("correct horse", hash)).toBe(true);
    expect(await passwords.verify("correct horsf", hash)).toBe(false);
    expect(await passwords.verify("", hash)).toBe(false);
  });

  it("is the same for one text written in two ways of Unicode", async () => {
    const hash = await passwords.hash("cafe\u0301 au lait");
    expect(await passwords.verify("caf\u00e9 au lait", hash)).toBe(true);
  });

  it("is outdated as soon as one parameter is less than today's", async () => {
    const hash = await passwords.hash("correct horse");
    expect(passwords.isOutdated(hash)).toBe(false);
    expect(new Passwords({ ...CHEAP, memoryKiB: 128 }).isOutdated(hash)).toBe(true);
    expect(new Passwords({ ...CHEAP, passes: 3 }).isOutdated(hash)).toBe(true);
    expect(new Passwords({ ...CHEAP, lanes: 2 }).isOutdated(hash)).toBe(true);
    expect(new Passwords({ memoryKiB: 32, passes: 1, lanes: 1 }).isOutdated(hash)).toBe(false);
  });
});

describe("a verification", () => {
  it.each([
    ["no such user", null],
    ["an account that is locked by a mark", "!"],
    ["another kind of hash", "$2b$12$abcdefghijklmnopqrstuv"],
  ])("does the work of a real one for %s", async (_, hash) => {
    const verify = jest.spyOn(argon2, "verify");
    expect(await passwords.verify("correct horse", hash)).toBe(false);
    const worked = verify.mock.calls.map(([digest]) => digest);
    verify.mockRestore();
    expect(worked).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=64,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)]);
  });

  const PARTS = [
    "$argon2id$v=19$m=64,t=2,p=1",
    "c2FsdHNhbHRzYWx0c2FsdA",
    "aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
  ];
  const [cost, salt, digest] = PARTS as [string, string, string];
  it.each([
    ["ends after its parameters", `${cost}$`],
    ["has no digest", `${cost}$${salt}`],
    ["has an empty digest", `${cost}$${salt}$`],
    ["has an empty salt", `${cost}$$${digest}`],
    ["was cut", `${cost}$c2Fs$aGFz`],
    ["has another character", `${cost}$${salt}$${digest.replace("a", "!")}`],
    ["has another part", `${cost}$${salt}$${digest}$x`],
    ["has too little memory", `$argon2id$v=19$m=0,t=2,p=1$${salt}$${digest}`],
    ["has more memory than a machine", `$argon2id$v=19$m=99999999999,t=2,p=1$${salt}$${digest}`],
    ["has no passes", `$argon2id$v=19$m=64,t=0,p=1$${salt}$${digest}`],
    ["is hostile", `${cost}$__proto__$constructor`],
  ])("is false, and does the work of a real one, for a damaged hash that %s", async (_, hash) => {
    const verify = jest.spyOn(argon2, "verify");
    expect(await passwords.verify("correct horse", hash)).toBe(false);
    const last = verify.mock.calls.at(-1)?.[0];
    verify.mockRestore();
    expect(last).toMatch(/^\$argon2id\$v=19\$m=64,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(last).not.toBe(hash);
  });

  it("is rejected if the machine cannot hash, even with a valid hash", async () => {
    const hash = await passwords.hash("correct horse");
    const verify = jest.spyOn(argon2, "verify").mockRejectedValue(new Error("Memory allocation error"));
    await expect(passwords.verify("correct horse", hash)).rejects.toThrow("Memory allocation error");
    verify.mockRestore();
  });

  it("does no work for a password that no account can have", async () => {
    const verify = jest.spyOn(argon2, "verify");
    const hash = await passwords.hash("correct horse");
    expect(await passwords.verify("x".repeat(129), hash)).toBe(false);
    expect(await passwords.verify("x".repeat(1_000_000), hash)).toBe(false);
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
  });

  it("does not block the event loop", async () => {
    const hash = await new Passwords({ memoryKiB: 65_536, passes: 1, lanes: 1 }).hash("correct horse");
    const done = new AbortController();
    const verified = passwords.verify("correct horse", hash).finally(() => done.abort());
    let turns = 0;
    for (; !done.signal.aborted; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await verified).toBe(true);
    expect(turns).toBeGreaterThan(100);
  });

  it("shares the machine with at most three others, and is rejected if twenty-five wait for each", async () => {
    const four = new Passwords({ ...CHEAP, maxRunning: 4 });
    const hash = await four.hash("correct horse");
    const real = argon2.verify;
    let running = 0;
    let most = 0;
    const verify = jest.spyOn(argon2, "verify").mockImplementation(async (...args) => {
      most = Math.max(most, (running += 1));
      return real(...args).finally(() => (running -= 1));
    });
    const results = await Promise.allSettled(Array.from({ length: 110 }, () => four.verify("wrong horse", hash)));
    verify.mockRestore();
    const refused = results.filter((result) => result.status === "rejected");
    expect(most).toBe(4);
    expect(refused).toHaveLength(6);
    expect(refused.every(({ reason }) => reason instanceof PoolFullError)).toBe(true);
  });

  it("keeps places for other addresses, however many requests one address sends", async () => {
    const one = new Passwords({ ...CHEAP, maxRunning: 1 });
    const hash = await one.hash("correct horse");
    const verify = (line: string) => one.verify("correct horse", hash, { line });
    const flood = Promise.allSettled(Array.from({ length: 60 }, () => verify("192.0.2.1")));
    const others = Array.from({ length: 10 }, () => verify("192.0.2.2"));
    expect(await Promise.all(others)).toEqual(Array(10).fill(true));
    const admitted = (await flood).filter(({ status }) => status === "fulfilled");
    expect(admitted).toHaveLength(16);
  });

  it("reserves one core for the event loop, and uses at most four by default", async () => {
    const hash = await passwords.hash("correct horse");
    const real = argon2.verify;
    let [running, most] = [0, 0];
    const verify = jest.spyOn(argon2, "verify").mockImplementation(async (...args) => {
      most = Math.max(most, (running += 1));
      return real(...args).finally(() => (running -= 1));
    });
    await Promise.all(Array.from({ length: 12 }, () => passwords.verify("correct horse", hash)));
    verify.mockRestore();
    expect(most).toBe(Math.min(4, Math.max(1, availableParallelism() - 1)));
  });
});

describe("the options", () => {
  it("have the minimum cost that OWASP recommends", async () => {
    expect(await new Passwords().hash("correct horse")).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it.each([{ passes: 0 }, { memoryKiB: 1.5 }, { memory: 1 }])("reject %j", (options) => {
    expect(() => new Passwords(options as PasswordsOptions)).toThrow(/^new Passwords\(\)/);
  });

  it("bound the length of a password that may be chosen", () => {
    const own = new Passwords({ ...CHEAP, minLength: 2, maxLength: 3 });
    expect(["x", "xx", "xxx", "xxxx"].map((password) => own.isAcceptable(password))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe("a password that may be chosen", () => {
  it.each([
    ["8 characters", "x".repeat(8), true],
    ["128 characters", "x".repeat(128), true],
    ["7 characters", "x".repeat(7), false],
    ["129 characters", "x".repeat(129), false],
    ["8 emoji, which are 16 code units", "🐎".repeat(8), true],
    ["4 emoji, which are 8 code units", "🐎".repeat(4), false],
    ["128 emoji", "🐎".repeat(128), true],
    ["another script", "пароль из слов", true],
    ["spaces", "        ", true],
    ["half of a surrogate pair", "abcdefgh\ud83d", false],
    ["a megabyte", "x".repeat(1_000_000), false],
  ])("has 8 to 128 characters of any script: %s", (_, password, expected) => {
    expect(passwords.isAcceptable(password)).toBe(expected);
  });
});
