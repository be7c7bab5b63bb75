import { describe, expect, it } from "@jest/globals";

import { LoginThrottle, TooManyAttemptsError } from "../src/security/throttle.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Tries until it is refused, or so many times; gives how often it was let in. */
function guess(throttle: LoginThrottle, address: string, username: string, times: number, now = 0): number {
  for (let count = 0; count < times; count += 1) {
    if (secondsToWait(throttle, address, username, now) > 0) {
      return count;
    }
  }
  return times;
}

function secondsToWait(throttle: LoginThrottle, address: string, username: string, now = 0): number {
  try {
    throttle.admit(address, username, now);
    return 0;
  } catch (error) {
    return error instanceof TooManyAttemptsError ? error.retryAfterSeconds : Number.NaN;
  }
}

describe("the throttle of logins", () => {
  it("lets twenty wrong guesses at an account through from one address, then one each fifteen seconds", () => {
    const throttle = new LoginThrottle();
    expect(guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
    expect(secondsToWait(throttle, "192.0.2.1", "alice")).toBe(15);
    expect(secondsToWait(throttle, "192.0.2.1", "alice", 15 * SECOND)).toBe(0);
    expect(secondsToWait(throttle, "192.0.2.1", "alice", 15 * SECOND)).toBe(15);
    expect(guess(throttle, "192.0.2.1", "alice", 100, 10 * MINUTE)).toBe(20);
  });

  it("lets a hundred wrong guesses through from one address, whatever the names", () => {
    const throttle = new LoginThrottle();
    const admitted = Array.from({ length: 200 }, (_, index) => guess(throttle, "192.0.2.1", `user-${index}`, 1));
    expect(admitted.filter(Boolean)).toHaveLength(100);
    expect(secondsToWait(throttle, "192.0.2.1", "bob")).toBe(3);
    expect(secondsToWait(throttle, "192.0.2.2", "bob")).toBe(0);
  });

  it("does not count those who succeed", () => {
    const throttle = new LoginThrottle();
    for (let count = 0; count < 1_000; count += 1) {
      throttle.admit("192.0.2.1", "alice", 0);
      throttle.forgive("192.0.2.1", "alice");
    }
    expect(guess(throttle, "192.0.2.1", "alice", 100)).toBe(20);
  });

  it("does not lock an owner out while many others guess, and leaves each of them one guess", () => {
    const throttle = new LoginThrottle();
    for (let host = 1; host <= 5; host += 1) {
      expect(guess(throttle, `192.0.2.${host}`, "alice", 100)).toBe(20);
    }
    expect(guess(throttle, "192.0.2.6", "alice", 100)).toBe(1);
    expect(guess(throttle, "198.51.100.1", "alice", 1)).toBe(1);
    expect(guess(throttle, "192.0.2.6", "bob", 100)).toBe(20);
  });

  it("keeps no key for ever, and none that is longer than a name can be", () => {
    const throttle = new LoginThrottle();
    const long = "x".repeat(1_000_000);
    expect(guess(throttle, "192.0.2.1", `${long}1`, 100)).toBe(20);
    expect(secondsToWait(throttle, "192.0.2.1", `${long}2`)).toBe(15);
  });
});
