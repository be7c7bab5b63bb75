import { describe, expect, it } from "@jest/globals";

import { jobs, removeExpiredSessions } from "../../src/extras/jobs/index.js";
import { openApp } from "./support.js";
import { PASSWORD } from "./support/constants.js";
import { startMailCatcher } from "./support/smtp-server.js";

describe("the mail after a registration", () => {
  it("is sent to the new user, and not if the name is taken", async () => {
    await using catcher = await startMailCatcher();
    await using app = await openApp({ env: { SMTP_URL: catcher.url, MAIL_FROM: "Sample <sample@example.com>" } });
    await app.register("Alice");
    await app.request
      .post("/users")
      .send({ username: "alice", email: "eve@example.com", password: PASSWORD })
      .expect(409);
    await jobs.drain();
    expect(catcher.mails).toEqual([
      { from: "sample@example.com", to: ["Alice@example.com"], source: expect.stringContaining("Welcome, alice.") },
    ]);
    const { id } = await app.db.user.findUniqueOrThrow({ where: { username: "alice" } });
    expect(catcher.mails[0]?.source).toContain(`Message-ID: <welcome-${id}@localhost>`);
  });

  it("is written to the log without an SMTP server, which is reported once", async () => {
    await using app = await openApp();
    await app.register("alice");
    await app.register("bob");
    await jobs.drain();
    const lines = app.lines.map((line) => JSON.parse(line));
    expect(lines.flatMap(({ mail }) => mail?.to ?? [])).toEqual(["alice@example.com", "bob@example.com"]);
    expect(lines.filter(({ message }) => message.startsWith("SMTP_URL is not set"))).toHaveLength(1);
  });
});

describe("the removal of expired sessions", () => {
  it("keeps the sessions that can still be continued", async () => {
    await using app = await openApp();
    await app.register();
    await app.login();
    const expired = await app.db.session.findFirstOrThrow();
    await app.db.session.updateMany({ data: { idleUntil: new Date(0) } });
    const { cookie } = await app.login();
    await removeExpiredSessions.enqueue();
    await jobs.drain();
    expect(await app.db.session.findMany({ where: { id: expired.id } })).toEqual([]);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(200);
  });
});
