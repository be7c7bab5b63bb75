import { expect, it } from "@jest/globals";

import { removeExpiredSessions } from "../../src/extras/jobs/index.js";
import { openApp } from "../support.js";

it("removes expired sessions, and keeps the others", async () => {
  await using app = await openApp();
  await app.register();
  await app.login();
  const expired = await app.db.session.findFirstOrThrow();
  await app.db.session.updateMany({ data: { idleUntil: new Date(0) } });
  await app.register("bob");
  const { cookie } = await app.login("bob");
  await removeExpiredSessions.enqueue();
  await app.sandbox.runJobs();
  expect(await app.db.session.findMany({ where: { id: expired.id } })).toEqual([]);
  await app.request.post("/auth/refresh").set("Cookie", cookie).expect(200);
});
