import { describe, expect, it } from "@jest/globals";

import { openApp } from "../support.js";

// Without REDIS_URL in the environment, each process counts separately.
const withRedis = process.env["REDIS_URL"] === undefined ? describe.skip : describe;

withRedis("the throttle", () => {
  it("counts wrong passwords of all processes together", async () => {
    const form = { username: `user-${process.pid}`, password: "wrong horse" };
    const statuses: number[] = [];
    for (let guess = 0; guess < 24; guess += 8) {
      await using app = await openApp();
      for (let count = 0; count < 8; count += 1) {
        statuses.push((await app.request.post("/auth/token").type("form").send(form)).status);
      }
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    expect(statuses.slice(20)).toEqual(Array(4).fill(429));
  });
});
