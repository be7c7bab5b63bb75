import { expect, it } from "@jest/globals";

import { openApp } from "./support.js";

it("reports that the process responds, and that the database does", async () => {
  await using app = await openApp();
  await app.request.get("/health").expect(200, { status: "ok" });
  const { body } = await app.request.get("/ready").expect(200);
  expect(body).toMatchObject({ status: "ok" });
});

it("adds an id and headers for browsers to each response", async () => {
  await using app = await openApp();
  const ids = new Set();
  for (const path of ["/health", "/users/me", "/nothing"]) {
    const response = await app.request.get(path).set("X-Request-Id", "theirs");
    expect(response.get("X-Content-Type-Options")).toBe("nosniff");
    ids.add(response.get("X-Request-Id"));
  }
  expect([ids.size, ids.has("theirs")]).toEqual([3, false]);
});

it("describes its login in the OpenAPI document", async () => {
  await using app = await openApp();
  const { body } = await app.request.get("/openapi.json").expect(200);
  expect(body.paths["/users/me"].get.security).toEqual([{ OAuth2PasswordBearer: [] }]);
});

it("logs logins without names and passwords, each with the id of its request", async () => {
  await using app = await openApp();
  await app.register();
  const form = { username: "secret-in-name", password: "wrong horse" };
  const failure = await app.request.post("/auth/token?secret=1").type("form").send(form).expect(401);
  const { token } = await app.login();
  const entries = app.lines.map((line) => JSON.parse(line));
  expect(entries).toContainEqual(
    expect.objectContaining({ message: "login failed", requestId: failure.get("X-Request-Id"), address: "127.0.0.1" }),
  );
  expect(entries).toContainEqual(expect.objectContaining({ message: "login", user: "alice" }));
  const text = [...app.lines, ...app.accesses].join("");
  for (const secret of ["secret-in-name", "wrong horse", "correct horse", "secret=1", token]) {
    expect(text).not.toContain(secret);
  }
});
