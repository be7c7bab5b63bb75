import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { describe, expect, it } from "@jest/globals";
import { memoryStore } from "tsgi/middleware";
import { Passwords } from "@tsgi/passwords";

import { Accounts, setDisabled } from "../src/accounts.js";
import { connect, type Database } from "../src/database.js";
import { RefreshTokens, revokeSessions, type Rotation } from "../src/security/refresh-tokens.js";
import { Throttle } from "../src/security/throttle.js";
import { CHEAP, temporaryDatabase } from "./support.js";

const DAY = 24 * 60 * 60 * 1000;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** A database with one user, and a clock that stops until it is moved. */
async function setUp() {
  const database = await temporaryDatabase();
  const { db } = database;
  const user = await db.user.create({
    data: { username: "alice", email: "alice@example.com", hashed_password: "!" },
  });
  const { id: userId } = user;
  const clock = { now: Date.parse("2026-01-01T00:00:00Z") };
  const tokens = new RefreshTokens(db, () => clock.now);
  const accounts = new Accounts(db, new Passwords(CHEAP), new Throttle(memoryStore()));
  /** The tokens of a process whose clock advances with each read. */
  const racing = (own = db) => new RefreshTokens(own, () => (clock.now += 1));
  const start = async () => (await tokens.start(user))!; // the user has this hash, and is not disabled
  return { ...database, user, userId, clock, tokens, accounts, start, racing };
}

function successor(rotation: Rotation): string {
  if (rotation.outcome !== "rotated") {
    throw new Error(`expected a rotation, got ${rotation.outcome}`);
  }
  return rotation.refreshToken.token;
}

/** Leaves a successor of which the server knows no more than that it was made. Gives it, as a client may have it. */
async function abandon({ db, tokens }: Awaited<ReturnType<typeof setUp>>, token: string): Promise<string> {
  await tokens.rotate(token, AbortSignal.abort());
  const { pendingHash } = await db.session.findFirstOrThrow();
  const pending = "as the client has it";
  await db.refreshToken.update({ where: { hash: pendingHash! }, data: { hash: sha256(pending) } });
  await db.session.updateMany({ data: { pendingHash: sha256(pending) } });
  return pending;
}

const countLive = (db: Database) => db.refreshToken.count({ where: { usedAt: null } });

describe("a refresh token", () => {
  it("has 256 random bits, of which the database holds only the SHA-256", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(await test.db.refreshToken.findMany()).toMatchObject([{ hash: sha256(token), usedAt: null }]);
    const [row] = await test.db.$queryRaw<
      object[]
    >`SELECT * FROM refresh_tokens JOIN sessions ON sessions.id = session_id`;
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it("ends its session if it is used a second time, together with its successors", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const next = successor(await test.tokens.rotate(token));
    test.clock.now += 1_000;
    expect(await test.tokens.rotate(token)).toEqual({ outcome: "reused", username: "alice" });
    expect(await test.tokens.rotate(next)).toEqual({ outcome: "unknown" });
    expect(await test.db.session.count()).toBe(0);
  });

  it("holds its successor back until the others of a race must have come", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const order: string[] = [];
    // A timer as long as the race, started before it: Node.js runs timers of one duration in the order of their start.
    const race = setTimeout(100).then(() => order.push("race"));
    await test.tokens.rotate(token).then(() => order.push("successor"));
    await race;
    expect(order).toEqual(["race", "successor"]);
  });

  it("detects a race with another process by its arrival time, even if it waited for the database", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const before = test.clock.now;
    test.clock.now += 20;
    await test.tokens.rotate(token);
    const times = [before, test.clock.now + 5_000];
    const slow = new RefreshTokens(test.db, () => times.shift() ?? Number.NaN);
    expect((await slow.rotate(token)).outcome).toBe("raced");
    expect(await countLive(test.db)).toBe(1);
  });

  it("gets another successor if the process exited before it delivered the first", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const pending = await abandon(test, token);
    test.clock.now += DAY;
    const next = successor(await test.tokens.rotate(token));
    expect(next).not.toBe(pending);
    expect(await test.tokens.rotate(next)).toMatchObject({ outcome: "rotated" });
  });

  it("is not spent by a client that disconnects while it waits for another's successor", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const pending = await abandon(test, token);
    const left = new AbortController();
    const waiting = test.tokens.rotate(token, left.signal);
    left.abort();
    expect(await waiting).toEqual({ outcome: "abandoned", username: "alice" });
    expect(await test.db.session.findMany()).toMatchObject([{ pendingHash: sha256(pending) }]);
  });

  it("is spent when its successor is presented, even if its delivery was not confirmed", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const pending = await abandon(test, token);
    expect(await test.tokens.rotate(pending)).toMatchObject({ outcome: "rotated" });
    test.clock.now += 1_000;
    expect(await test.tokens.rotate(token)).toEqual({ outcome: "reused", username: "alice" });
    expect(await test.db.session.count()).toBe(0);
  });

  it("ends its session when a successor that was replaced is presented: two have tokens of it", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const pending = await abandon(test, token);
    const next = successor(await test.tokens.rotate(token));
    test.clock.now += 1_000;
    expect(await test.tokens.rotate(pending)).toEqual({ outcome: "reused", username: "alice" });
    expect(await test.tokens.rotate(next)).toEqual({ outcome: "unknown" });
  });

  it("results in one valid token if it and its undelivered successor are presented at the same time", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const pending = await abandon(test, token);
    const others = await Promise.all(Array.from({ length: 4 }, () => connect(test.url)));
    const rotations = await Promise.all(
      others.map((db, index) => test.racing(db).rotate(index % 2 === 0 ? token : pending)),
    );
    expect(rotations.map(({ outcome }) => outcome).toSorted()).toEqual(["raced", "raced", "raced", "rotated"]);
    expect(await countLive(test.db)).toBe(1);
    await Promise.all(others.map((db) => db.$disconnect()));
  });

  it("is dead after seven days without use", async () => {
    await using test = await setUp();
    const used = await test.start();
    const idle = await test.start();
    expect(idle.maxAgeSeconds).toBe((7 * DAY) / 1000);
    test.clock.now += 7 * DAY - 1;
    expect(await test.tokens.rotate(used.token)).toMatchObject({ outcome: "rotated" });
    test.clock.now += 1;
    expect(await test.tokens.rotate(idle.token)).toEqual({ outcome: "expired", username: "alice" });
  });

  it("is dead thirty days after the login, however often it was used", async () => {
    await using test = await setUp();
    let { token } = await test.start();
    for (let day = 6; day < 30; day += 6) {
      test.clock.now += 6 * DAY;
      token = successor(await test.tokens.rotate(token));
    }
    test.clock.now += 5 * DAY;
    const last = await test.tokens.rotate(token);
    expect(last).toMatchObject({ refreshToken: { maxAgeSeconds: DAY / 1000 } });
    test.clock.now += DAY;
    expect(await test.tokens.rotate(successor(last))).toMatchObject({ outcome: "expired" });
    await test.start();
    expect(await test.db.session.count()).toBe(1); // a login removes expired rows
  });

  it("is rejected for a disabled user, even after the user is enabled again", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    await test.db.user.update({ where: { id: test.userId }, data: { disabled: true } });
    expect(await test.tokens.rotate(token)).toEqual({ outcome: "disabled", username: "alice" });
    await test.db.user.update({ where: { id: test.userId }, data: { disabled: false } });
    expect(await test.tokens.rotate(token)).toEqual({ outcome: "unknown" });
  });

  it("is revoked by a logout, even with a token that was used already", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const next = successor(await test.tokens.rotate(token));
    await test.tokens.revoke(token);
    expect(await test.tokens.rotate(next)).toEqual({ outcome: "unknown" });
    await test.tokens.revoke("never-issued");
  });

  it("is revoked by a new password", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    expect(await test.accounts.changePassword(test.user, "another password")).toBe(true);
    expect(await test.tokens.rotate(token)).toEqual({ outcome: "unknown" });
  });

  it("is revoked by disabling the user", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    expect(await setDisabled(test.db, "alice", true)).toBe(true);
    await setDisabled(test.db, "alice", false);
    expect(await test.tokens.rotate(token)).toEqual({ outcome: "unknown" });
    expect(await setDisabled(test.db, "nobody", true)).toBe(false);
  });
});

describe("a session", () => {
  it("is not started with a hash that the account no longer has, nor while it is disabled", async () => {
    await using test = await setUp();
    expect(await test.tokens.start({ id: test.userId, hashed_password: "another" })).toBeNull();
    await test.db.user.update({ where: { id: test.userId }, data: { disabled: true } });
    expect(await test.tokens.start(test.user)).toBeNull();
    expect(await test.db.session.count()).toBe(0);
  });

  it("is not started while a change of the password is under way that has not been committed", async () => {
    await using test = await setUp();
    const other = await connect(test.url);
    let starting: Promise<unknown> = Promise.resolve();
    await test.db.transaction(async (tx) => {
      await tx.user.update({ where: { id: test.userId }, data: { hashed_password: "another" } });
      await revokeSessions(tx, { id: test.userId });
      starting = new RefreshTokens(other).start(test.user);
      // Long enough for a start that does not wait. SQLite lets one transaction write at a time, so it has to wait there.
      await Promise.race([starting, setTimeout(100)]);
    });
    expect(await starting).toBeNull();
    expect(await test.db.session.count()).toBe(0);
    await other.$disconnect();
  });
});
