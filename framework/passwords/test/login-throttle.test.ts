import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { App, ConfigurationError, Depends, HTTPException } from "tsgi";
import { memoryStore } from "tsgi/middleware";
import { getCaller, LoginThrottle, type LoginThrottleOptions, Passwords } from "../src/index.js";
import { call } from "../../test/support/call.js";

afterEach(() => {
  jest.restoreAllMocks();
});

const wrong = async () => null;

/** Sends wrong passwords until one is rejected, at most `times`; returns how many were accepted. */
async function guess(throttle: LoginThrottle, address: string, account: string, times = 1_000): Promise<number> {
  for (let count = 0; count < times; count += 1) {
    const isAdmitted = await throttle.attempt(address, account, wrong).then(
      () => true,
      (error: unknown) => !(error instanceof HTTPException && error.statusCode === 429),
    );
    if (!isAdmitted) return count;
  }
  return times;
}

describe("LoginThrottle", () => {
  it("limits wrong passwords by pair, by address and by account", async () => {
    const throttle = new LoginThrottle({ perPair: 2, perAddress: 5, perAccount: 4 });
    expect(await guess(throttle, "192.0.2.1", "ada")).toBe(2);
    expect(await guess(throttle, "192.0.2.1", "bob")).toBe(2);
    expect(await guess(throttle, "192.0.2.1", "eve")).toBe(1);
    expect(await guess(throttle, "192.0.2.2", "ada")).toBe(2);
  });

  it("keeps one attempt for each address without a wrong password for an account under attack", async () => {
    const throttle = new LoginThrottle({ perPair: 2, perAccount: 4 });
    expect(await guess(throttle, "192.0.2.1", "ada")).toBe(2);
    expect(await guess(throttle, "192.0.2.2", "ada")).toBe(2);
    expect(await guess(throttle, "192.0.2.3", "ada")).toBe(1);
    expect(await throttle.attempt("192.0.2.4", "ada", async () => "ada")).toBe("ada");
  });

  it("counts neither right passwords nor verifications that fail", async () => {
    const throttle = new LoginThrottle({ perPair: 1 });
    const broken = async () => {
      throw new Error("no database");
    };
    for (let count = 0; count < 5; count += 1) {
      expect(await throttle.attempt("192.0.2.1", "ada", async () => count)).toBe(count);
      await expect(throttle.attempt("192.0.2.1", "ada", broken)).rejects.toThrow("no database");
    }
    expect(await guess(throttle, "192.0.2.1", "ada")).toBe(1);
  });

  it("counts an attempt before its password is verified", async () => {
    const throttle = new LoginThrottle({ perPair: 2 });
    const verify = jest.fn(wrong);
    const attempts = Array.from({ length: 10 }, () => throttle.attempt("192.0.2.1", "ada", verify));
    const results = await Promise.allSettled(attempts);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(verify).toHaveBeenCalledTimes(2);
  });

  it("responds with 429 and the seconds until the window ends, and then counts from zero", async () => {
    const now = performance.now();
    const clock = jest.spyOn(performance, "now").mockReturnValue(now);
    const throttle = new LoginThrottle({ perPair: 1, windowSeconds: 60 });
    await throttle.attempt("192.0.2.1", "ada", wrong);
    clock.mockReturnValue(now + 20_000);
    await expect(throttle.attempt("192.0.2.1", "ada", wrong)).rejects.toMatchObject({
      statusCode: 429,
      headers: { "Retry-After": "40" },
    });
    clock.mockReturnValue(now + 61_000);
    expect(await throttle.attempt("192.0.2.1", "ada", wrong)).toBeNull();
  });

  it("adds no attempts to the next window if earlier ones end in it", async () => {
    const now = performance.now();
    const clock = jest.spyOn(performance, "now").mockReturnValue(now);
    const throttle = new LoginThrottle({ perPair: 2, windowSeconds: 60 });
    const late = async () => {
      clock.mockReturnValue(now + 61_000);
      return "ada";
    };
    await Promise.all([throttle.attempt("192.0.2.1", "ada", late), throttle.attempt("192.0.2.1", "ada", late)]);
    expect(await guess(throttle, "192.0.2.1", "ada")).toBe(2);
  });

  it("keeps no counts for attempts that are not wrong", async () => {
    const store = memoryStore({ maxKeys: 10 });
    const throttle = new LoginThrottle({ store, perPair: 2 });
    expect(await guess(throttle, "192.0.2.1", "ada")).toBe(2);
    for (let count = 0; count < 20; count += 1) {
      await throttle.attempt("192.0.2.1", `invented-${count}`, async () => "ada");
    }
    expect(await guess(throttle, "192.0.2.1", "ada")).toBe(0);
  });

  it("counts the addresses of one IPv6 network together", async () => {
    const throttle = new LoginThrottle({ perPair: 3 });
    expect(await guess(throttle, "2001:db8::1", "ada", 2)).toBe(2);
    expect(await guess(throttle, "2001:db8::2", "ada")).toBe(1);
  });

  it("counts attempts without an address only for their account, so that one client does not lock out all others", async () => {
    const throttle = new LoginThrottle({ perAddress: 2, perPair: 2, perAccount: 4, registrations: 1 });
    for (const name of ["a", "b", "c", "d"]) expect(await throttle.attempt("", name, wrong)).toBeNull();
    expect(await throttle.attempt("", "ada", async () => "ada")).toBe("ada");
    expect(await guess(throttle, "", "ada")).toBe(4);
    expect(await throttle.attempt("192.0.2.1", "ada", async () => "ada")).toBe("ada");
    for (let count = 0; count < 3; count++) await throttle.admitRegistration("");
  });

  it("limits registrations from one address", async () => {
    const throttle = new LoginThrottle({ registrations: 2 });
    await throttle.admitRegistration("192.0.2.1");
    await throttle.admitRegistration("192.0.2.1");
    await expect(throttle.admitRegistration("192.0.2.1")).rejects.toMatchObject({ statusCode: 429 });
    await throttle.admitRegistration("192.0.2.2");
  });

  it("shares its counts with others that have the same store, without the names of accounts", async () => {
    const store = memoryStore();
    const keys = jest.spyOn(store, "increment");
    const [one, two] = [new LoginThrottle({ store, perPair: 3 }), new LoginThrottle({ store, perPair: 3 })];
    expect(await guess(one, "192.0.2.1", "ada-secret", 2)).toBe(2);
    expect(await guess(two, "192.0.2.1", "ada-secret")).toBe(1);
    expect(JSON.stringify(keys.mock.calls)).not.toContain("ada-secret");
  });

  it("has separate counts in the same store if it has another name", async () => {
    const store = memoryStore();
    const [users, admins] = [new LoginThrottle({ store, perPair: 2 }), new LoginThrottle({ store, name: "admin" })];
    expect(await guess(users, "192.0.2.1", "ada")).toBe(2);
    expect(await admins.attempt("192.0.2.1", "ada", async () => "ada")).toBe("ada");
    expect(await guess(admins, "192.0.2.1", "ada")).toBe(20);
    await expect(users.admit("192.0.2.1", "ada")).rejects.toMatchObject({ statusCode: 429 });
  });

  it("responds with 503 before it verifies a password if the store is unavailable", async () => {
    const store = memoryStore();
    const failure = new Error("no connection");
    jest.spyOn(store, "increment").mockRejectedValue(failure);
    const throttle = new LoginThrottle({ store });
    const verify = jest.fn(wrong);
    const refusal = { statusCode: 503, cause: failure };
    await expect(throttle.attempt("192.0.2.1", "ada", verify)).rejects.toMatchObject(refusal);
    await expect(throttle.admitRegistration("192.0.2.1")).rejects.toMatchObject(refusal);
    expect(verify).not.toHaveBeenCalled();
  });

  it.each<[LoginThrottleOptions]>([
    [{ perPair: 0 }],
    [{ windowSeconds: 1.5 }],
    [JSON.parse('{ "name": 5 }')],
    [JSON.parse('{ "perUser": 5 }')],
    [JSON.parse('{ "store": { "get": true } }')],
  ])("throws an error for the options %j", (options) => {
    expect(() => new LoginThrottle(options)).toThrow(ConfigurationError);
  });
});

describe("getCaller", () => {
  it("is a queue for each client, with the signal of the request", async () => {
    const callers: unknown[] = [];
    const app = new App();
    app.get("/", { params: { caller: Depends(getCaller) } }, async ({ caller }) => void callers.push(caller));
    for (const host of ["192.0.2.1", "2001:db8::1"]) {
      const scope = { type: "http", method: "GET", path: "/", client: [host, 1] } as const;
      await app(
        scope,
        async () => ({ type: "http.request" }),
        () => {},
      );
    }
    const signal = expect.any(AbortSignal);
    expect(callers).toEqual([
      { line: "192.0.2.1", signal },
      { line: "2001:db8:0:0::/64", signal },
    ]);
  });
});

describe("assertAcceptable", () => {
  it("responds with 422 that contains the place of a password of another length", async () => {
    const passwords = new Passwords({ minLength: 4, maxLength: 6 });
    const app = new App();
    app.post("/{password}", async ({ password }) => passwords.assertAcceptable(password, ["path", "password"]));
    expect((await call(app, "POST", "/12345")).status).toBe(200);
    const { status, faults } = await call(app, "POST", "/123");
    const msg = "Password should have 4 to 6 characters";
    expect([status, faults]).toEqual([422, [{ type: "value_error", loc: ["path", "password"], msg }]]);
  });
});
