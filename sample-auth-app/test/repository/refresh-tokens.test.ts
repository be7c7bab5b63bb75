import { setTimeout } from "node:timers/promises";

import { describe, expect, it } from "@jest/globals";
import { LoginThrottle, Passwords } from "@tsgi/passwords";

import { Accounts, setDisabled } from "../../src/accounts.js";
import { connect } from "../../src/database.js";
import { openSessions, revokeSessions, startSession } from "../../src/security/refresh-tokens.js";
import { CHEAP } from "./support/constants.js";
import { takeDatabase } from "./support/databases.js";

/** A database with one user. */
async function setUp() {
  const database = await takeDatabase();
  const db = database.ofApp;
  const user = await db.user.create({
    data: { username: "alice", email: "alice@example.com", hashed_password: "!" },
  });
  const accounts = new Accounts(db, new Passwords(CHEAP), new LoginThrottle());
  const tokens = openSessions(db);
  const start = async () => (await startSession(db, tokens, user))!; // the user has this hash, and is not disabled
  return { ...database, db, user, tokens, accounts, start };
}

const outcomeOf = async (test: Awaited<ReturnType<typeof setUp>>, token: string) =>
  (await test.tokens.rotate(token)).outcome;

describe("a refresh token", () => {
  it("is in the database only as its SHA-256", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const rows = await test.db.$queryRaw<object[]>`SELECT * FROM sessions`;
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(token.slice(-27));
  });

  it("has one successor if several processes receive it at the same time", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const others = await Promise.all(Array.from({ length: 4 }, () => connect(test.url)));
    const rotations = await Promise.all(others.map((db) => openSessions(db).rotate(token)));
    expect(rotations.filter(({ outcome }) => outcome === "rotated")).toHaveLength(1);
    await Promise.all(others.map((db) => db.$disconnect()));
  });

  it("is rejected after the idle time, and lasts no longer than the session", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000);
    await test.db.session.updateMany({ data: { expiresAt: tomorrow } });
    const rotation = await test.tokens.rotate(token);
    expect(rotation).toMatchObject({ outcome: "rotated", session: { user: { username: "alice" } } });
    const { idleUntil } = await test.db.session.findFirstOrThrow();
    expect(idleUntil).toEqual(tomorrow);
    await test.db.session.updateMany({ data: { idleUntil: new Date(0) } });
    expect(await outcomeOf(test, rotation.outcome === "rotated" ? rotation.token : "")).toBe("expired");
  });

  it("is rejected for a disabled user, even after the user is enabled again", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    await test.db.user.update({ where: { id: test.user.id }, data: { disabled: true } });
    expect(await outcomeOf(test, token)).toBe("unknown");
    await test.db.user.update({ where: { id: test.user.id }, data: { disabled: false } });
    expect(await outcomeOf(test, token)).toBe("unknown");
  });

  it("is revoked by a logout, even with a token that was used already", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    await test.tokens.rotate(token);
    await test.tokens.revoke(token);
    expect(await test.db.session.count()).toBe(0);
    await test.tokens.revoke("never-issued");
  });

  it("is revoked by a new password", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    expect(await test.accounts.changePassword(test.user, "another password")).toBe(true);
    expect(await outcomeOf(test, token)).toBe("unknown");
  });

  it("is revoked by disabling the user", async () => {
    await using test = await setUp();
    const { token } = await test.start();
    expect(await setDisabled(test.db, "alice", true)).toBe(true);
    await setDisabled(test.db, "alice", false);
    expect(await outcomeOf(test, token)).toBe("unknown");
    expect(await setDisabled(test.db, "nobody", true)).toBe(false);
  });
});

describe("a session", () => {
  it("is removed by a later login if it has expired", async () => {
    await using test = await setUp();
    await test.start();
    await test.db.session.updateMany({ data: { idleUntil: new Date(0) } });
    await test.start();
    expect(await test.db.session.count()).toBe(1);
  });

  it("is not started with a hash that the account no longer has, nor while it is disabled", async () => {
    await using test = await setUp();
    expect(await startSession(test.db, test.tokens, { id: test.user.id, hashed_password: "another" })).toBeNull();
    await test.db.user.update({ where: { id: test.user.id }, data: { disabled: true } });
    expect(await startSession(test.db, test.tokens, test.user)).toBeNull();
    expect(await test.db.session.count()).toBe(0);
  });

  it("is not started while a change of the password is under way that has not been committed", async () => {
    await using test = await setUp();
    const other = await connect(test.url);
    let starting: Promise<unknown> = Promise.resolve();
    await test.db.transaction(async (tx) => {
      await tx.user.update({ where: { id: test.user.id }, data: { hashed_password: "another" } });
      await revokeSessions(tx, { id: test.user.id });
      starting = startSession(other, test.tokens, test.user);
      // Long enough for a start that does not wait. SQLite lets one transaction write at a time, so it has to wait there.
      await Promise.race([starting, setTimeout(100)]);
    });
    expect(await starting).toBeNull();
    expect(await test.db.session.count()).toBe(0);
    await other.$disconnect();
  });
});
