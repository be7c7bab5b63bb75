import { describe, expect, it } from "@jest/globals";

import { openApp } from "./support.js";

describe("the observation of the application", () => {
  it("logs each request with its route, its id and its trace, and the lines between with the same", async () => {
    await using app = await openApp();
    await app.register();
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const answer = await app.request
      .post("/auth/token?secret=1")
      .set("traceparent", `00-${traceId}-00f067aa0ba902b7-01`)
      .type("form")
      .send({ username: "alice", password: "wrong horse" });
    const ids = { requestId: answer.get("X-Request-Id"), traceId };
    const line = app.lines.find((text) => text.includes("login failed"));
    expect(JSON.parse(line!)).toMatchObject({ route: "/auth/token", ...ids });
    const access = JSON.parse(app.accesses.at(-1)!);
    expect(access).toMatchObject({ path: "/auth/token", route: "/auth/token", status: 401, ...ids });
    expect(app.accesses.join("")).not.toContain("secret");
  });

  it("shows metrics by route only to private networks", async () => {
    await using app = await openApp({ env: { TRUSTED_PROXIES: "loopback" } });
    await app.request.get("/health");
    const { text } = await app.request.get("/metrics").expect(200);
    expect(text).toContain('http_requests_total{method="GET",route="/health",status="2xx"} 1');
    for (const address of ["10.1.2.3", "172.30.117.9", "fd00::1", "::1"]) {
      await app.request.get("/metrics").set("X-Forwarded-For", address).expect(200);
    }
    for (const address of ["203.0.113.7", "172.32.0.1", "2001:db8::1"]) {
      await app.request.get("/metrics").set("X-Forwarded-For", address).expect(404, { detail: "Not Found" });
    }
  });
});
