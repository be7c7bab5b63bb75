import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { type RefreshSession, RefreshTokens, type Rotation } from "../src/index.js";

const DAY = 24 * 60 * 60 * 1_000;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The time, which stops until a test moves it. */
const clock = { now: 0, step: 0 };

beforeEach(() => {
  Object.assign(clock, { now: Date.parse("2026-01-01T00:00:00Z"), step: 0 });
  jest.spyOn(Date, "now").mockImplementation(() => (clock.now += clock.step));
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Sessions in memory, whose methods are as asynchronous as a database, and one token. */
function setUp() {
  const sessions = new Map<string, RefreshSession>();
  const store = {
    find: async (id: string) => setTimeout(0, sessions.get(id) ?? null),
    replace: async ({ id, currentHash, pendingHash }: RefreshSession, next: RefreshSession) => {
      await setTimeout(0);
      const stored = sessions.get(id);
      const isSame = stored?.currentHash === currentHash && stored.pendingHash === pendingHash;
      if (isSame) sessions.set(id, next);
      return isSame;
    },
    remove: async (id: string) => void sessions.delete(id),
  };
  const tokens = new RefreshTokens({ store });
  const start = () => {
    const { session, ...issued } = tokens.issue();
    sessions.set(session.id, session);
    return issued;
  };
  return { sessions, store, tokens, start, ...start() };
}

function successor(rotation: Rotation<RefreshSession>): string {
  if (rotation.outcome !== "rotated") throw new Error(`expected a rotation, got ${rotation.outcome}`);
  return rotation.token;
}

/** Leaves a successor that may have reached the client. */
async function abandon({ sessions, tokens, token }: ReturnType<typeof setUp>): Promise<string> {
  await tokens.rotate(token, { signal: AbortSignal.abort() });
  const [session] = [...sessions.values()];
  const pending = `${token.slice(0, 16)}${"p".repeat(27)}`;
  if (session) sessions.set(session.id, { ...session, pendingHash: sha256(pending) });
  return pending;
}

describe("a refresh token", () => {
  it("has 43 characters with 160 random bits, of which the session has only the SHA-256", () => {
    const { token, sessions, start } = setUp();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(start().token.slice(16)).not.toBe(token.slice(16));
    const session = sessions.get(token.slice(0, 16));
    expect(session).toMatchObject({ currentHash: sha256(token), pendingHash: null });
    expect(JSON.stringify(session)).not.toContain(token.slice(16));
  });

  it("is replaced by another one", async () => {
    const { token, tokens } = setUp();
    const next = successor(await tokens.rotate(token));
    expect(next).not.toBe(token);
    expect(await tokens.rotate(next)).toMatchObject({ outcome: "rotated", maxAgeSeconds: (7 * DAY) / 1_000 });
  });

  it("ends its session if it is used a second time, together with its successors", async () => {
    const { token, tokens, sessions } = setUp();
    const next = successor(await tokens.rotate(token));
    clock.now += 1_000;
    expect((await tokens.rotate(token)).outcome).toBe("reused");
    expect(await tokens.rotate(next)).toEqual({ outcome: "unknown", session: null });
    expect(sessions.size).toBe(0);
  });

  it("results in one successor if it is used twenty times at the same time, and the session continues", async () => {
    const { token, tokens } = setUp();
    clock.step = 1;
    const rotations = await Promise.all(Array.from({ length: 20 }, () => tokens.rotate(token)));
    const outcomes = rotations.map(({ outcome }) => outcome).toSorted();
    expect(outcomes).toEqual([...Array<string>(19).fill("raced"), "rotated"]);
    const next = rotations.find(({ outcome }) => outcome === "rotated");
    expect((await tokens.rotate(successor(next!))).outcome).toBe("rotated");
  });

  it("detects a race by the time of arrival, even if it waited for the store", async () => {
    const { token, store, tokens, sessions } = setUp();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const find = async (id: string) => answered.then(() => store.find(id));
    const late = new RefreshTokens({ store: { ...store, find } }).rotate(token);
    clock.now += 20;
    await tokens.rotate(token);
    answer();
    expect((await late).outcome).toBe("raced");
    expect(sessions.size).toBe(1);
  });

  describe("if the store is slow at a replica", () => {
    /** A replica where the first `find` takes 0.4 s, during which the times of arrival do not change. */
    function openSlow({ store }: ReturnType<typeof setUp>) {
      let isFirst = true;
      const find: typeof store.find = async (id) => {
        const startedAt = performance.now();
        if (isFirst) jest.spyOn(performance, "now").mockReturnValue(startedAt + 400);
        isFirst = false;
        return store.find(id);
      };
      return new RefreshTokens({ store: { ...store, find } });
    }

    it("has its successor later, because others may wait for the store at another replica", async () => {
      const test = setUp();
      const events: string[] = [];
      const rotation = openSlow(test)
        .rotate(test.token)
        .then(({ outcome }) => events.push(outcome));
      // Timers end in the order of their times, however busy the process is.
      await Promise.all([rotation, setTimeout(800).then(() => events.push("0.8 s"))]);
      expect(events).toEqual(["0.8 s", "rotated"]);
    });

    it.each([
      [350, "raced"],
      [450, "reused"],
    ])("and arrives there %i ms after its successor was delivered, is %s", async (lateMs, outcome) => {
      const test = setUp();
      await test.tokens.rotate(test.token);
      clock.now += lateMs;
      expect((await openSlow(test).rotate(test.token)).outcome).toBe(outcome);
      expect(test.sessions.size).toBe(outcome === "raced" ? 1 : 0);
    });

    it("was in a race if it waited there behind a slow request", async () => {
      const test = setUp();
      const replica = openSlow(test);
      await test.tokens.rotate(test.token);
      clock.now += 350;
      await replica.rotate("unknown");
      expect((await replica.rotate(test.token)).outcome).toBe("raced");
    });
  });

  it("gets another successor if the first was not delivered", async () => {
    const test = setUp();
    const pending = await abandon(test);
    clock.now += DAY;
    const next = successor(await test.tokens.rotate(test.token));
    expect(next).not.toBe(pending);
    expect((await test.tokens.rotate(next)).outcome).toBe("rotated");
  });

  it("is not spent by a client that disconnects while it waits for the successor of another request", async () => {
    const test = setUp();
    const pending = await abandon(test);
    const left = new AbortController();
    const waiting = test.tokens.rotate(test.token, { signal: left.signal });
    left.abort();
    expect((await waiting).outcome).toBe("abandoned");
    expect([...test.sessions.values()]).toMatchObject([{ pendingHash: sha256(pending) }]);
  });

  it("stays valid if the client disconnects while the delivery is stored", async () => {
    const { token, tokens, store } = setUp();
    const client = new AbortController();
    const replace: typeof store.replace = async (previous, next) => {
      const isReplaced = await store.replace(previous, next);
      if (next.pendingHash === null) client.abort();
      return isReplaced;
    };
    const leaving = new RefreshTokens({ store: { ...store, replace } });
    expect((await leaving.rotate(token, { signal: client.signal })).outcome).toBe("abandoned");
    expect((await tokens.rotate(token)).outcome).toBe("rotated");
  });

  it("is spent when its successor is presented, even if its delivery was not confirmed", async () => {
    const test = setUp();
    const pending = await abandon(test);
    expect((await test.tokens.rotate(pending)).outcome).toBe("rotated");
    clock.now += 1_000;
    expect((await test.tokens.rotate(test.token)).outcome).toBe("reused");
    expect(test.sessions.size).toBe(0);
  });

  it("ends its session when a successor that was replaced is presented: two have tokens of it", async () => {
    const test = setUp();
    const pending = await abandon(test);
    const next = successor(await test.tokens.rotate(test.token));
    clock.now += 1_000;
    expect((await test.tokens.rotate(pending)).outcome).toBe("reused");
    expect((await test.tokens.rotate(next)).outcome).toBe("unknown");
  });

  it("results in one valid token if it and its undelivered successor are presented at the same time", async () => {
    const test = setUp();
    const pending = await abandon(test);
    clock.step = 1;
    const rotations = await Promise.all(
      [test.token, pending, test.token, pending].map((one) => test.tokens.rotate(one)),
    );
    expect(rotations.map(({ outcome }) => outcome).toSorted()).toEqual(["raced", "raced", "raced", "rotated"]);
    expect(test.sessions.size).toBe(1);
  });

  it("is dead after seven days without use", async () => {
    const { token, tokens, start } = setUp();
    const idle = start();
    expect(idle.maxAgeSeconds).toBe((7 * DAY) / 1_000);
    clock.now += 7 * DAY - 1;
    expect((await tokens.rotate(token)).outcome).toBe("rotated");
    clock.now += 1;
    expect((await tokens.rotate(idle.token)).outcome).toBe("expired");
  });

  it("is dead thirty days after the login, however often it was used", async () => {
    const { tokens, ...first } = setUp();
    let { token } = first;
    for (let day = 6; day < 30; day += 6) {
      clock.now += 6 * DAY;
      token = successor(await tokens.rotate(token));
    }
    clock.now += 5 * DAY;
    const last = await tokens.rotate(token);
    expect(last).toMatchObject({ maxAgeSeconds: DAY / 1_000 });
    clock.now += DAY;
    expect((await tokens.rotate(successor(last))).outcome).toBe("expired");
  });

  it("is revoked with its session, even if it was used already", async () => {
    const { token, tokens } = setUp();
    const next = successor(await tokens.rotate(token));
    await tokens.revoke(token);
    expect((await tokens.rotate(next)).outcome).toBe("unknown");
  });

  it.each(["", "never-issued", "\0".repeat(43), "a".repeat(43), "a".repeat(10_000)])(
    "is unknown: %j",
    async (token) => {
      const { tokens, sessions } = setUp();
      expect(await tokens.rotate(token)).toEqual({ outcome: "unknown", session: null });
      await tokens.revoke(token);
      expect(sessions.size).toBe(1);
    },
  );
});

describe("RefreshTokens", () => {
  it("has other limits on request", async () => {
    const { store } = setUp();
    const tokens = new RefreshTokens({ store, idleSeconds: 60, maxSeconds: 90 });
    expect(tokens.issue().maxAgeSeconds).toBe(60);
    expect(new RefreshTokens({ store, maxSeconds: 90 }).issue().maxAgeSeconds).toBe(90);
  });

  it("rejects options that cannot work", () => {
    const { store } = setUp();
    expect(() => new RefreshTokens({ store, idleSeconds: 0 })).toThrow("idleSeconds");
    // @ts-expect-error -- the store is required
    expect(() => new RefreshTokens({})).toThrow("store");
  });
});
