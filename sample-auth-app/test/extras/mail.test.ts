import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

it("sends one mail to a new user, and no mail if the name is taken", async () => {
  await using app = await openApp();
  await app.register();
  const user = { username: "alice", email: "eve@example.com", password: "another horse" };
  await app.request.post("/users").send(user).expect(409);
  const { id: userId } = await app.db.user.findUniqueOrThrow({ where: { username: "alice" } });
  expect(await app.sandbox.jobs()).toMatchObject([{ name: "welcome-mail", payload: { userId } }]);
  await app.sandbox.runJobs();
  expect(await app.sandbox.jobs()).toEqual([]);
  // Without SMTP_URL, mail is written to the log.
  const mails = app.lines.flatMap((line) => JSON.parse(line).mail ?? []);
  expect(mails).toMatchObject([{ to: "alice@example.com", subject: "Welcome" }]);
});
