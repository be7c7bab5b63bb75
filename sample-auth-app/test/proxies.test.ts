import { describe, expect, it } from "@jest/globals";

import { openApp } from "./support.js";

/** Whose address the log has for a login that fails: the one whose wrong passwords the throttle counts. */
async function addressOf(trustedProxies: readonly string[], ...forwardedFor: string[]): Promise<unknown> {
  await using app = await openApp({ trustedProxies });
  await app.request
    .post("/auth/token")
    .set({ "x-forwarded-for": forwardedFor })
    .type("form")
    .send({ username: "nobody", password: "wrong horse" })
    .expect(401);
  const entries = app.lines.map((line) => JSON.parse(line));
  expect(entries).toMatchObject([{ message: "login failed" }]);
  return entries[0].address;
}

describe("the address of a login", () => {
  it.each([
    ["nobody is listed", []],
    ["another is listed", ["10.0.0.0/8"]],
  ])("is that of whoever connects where %s, whatever the request says", async (_, listed) => {
    expect(await addressOf(listed, "198.51.100.7")).toBe("127.0.0.1");
  });

  it.each([
    ["the proxy's word", ["198.51.100.7"], "198.51.100.7"],
    ["the proxy's word behind what the client made up", ["203.0.113.1, 198.51.100.7"], "198.51.100.7"],
    ["the proxy's word on a line of its own", ["203.0.113.1", "198.51.100.7"], "198.51.100.7"],
    ["IPv6", ["2001:db8::1"], "2001:db8::1"],
    ["that of the proxy where it says nothing of use", ["unknown"], "127.0.0.1"],
  ])("is, behind a listed proxy, %s", async (_, forwardedFor, expected) => {
    expect(await addressOf(["loopback"], ...forwardedFor)).toBe(expected);
  });
});
