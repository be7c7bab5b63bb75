import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, Scope } from "tsgi";

import { isNetwork, trustedProxies } from "../src/proxies.js";

/** What an application behind the middleware sees of a request from `peer` with these headers. */
async function see(networks: string[], peer: string, headers: readonly (readonly [string, string])[]) {
  const app: ASGIApp = async (inner) => {
    seen = inner;
  };
  let seen: Scope | undefined;
  const scope: Scope = {
    type: "http",
    method: "GET",
    path: "/",
    scheme: "http",
    client: [peer, 1234],
    headers: headers.map(([name, value]) => [Buffer.from(name), Buffer.from(value)]),
  };
  await trustedProxies(networks)(app)(
    scope,
    async () => ({ type: "http.disconnect" }),
    async () => {},
  );
  return seen?.type === "http" ? { client: seen.client?.[0], scheme: seen.scheme } : null;
}

describe("what a proxy says of the client", () => {
  const forwarded = [
    ["x-forwarded-for", "198.51.100.7"],
    ["x-forwarded-proto", "https"],
  ] as const;

  it.each([
    ["nobody is listed", [], "10.0.0.1"],
    ["another is listed", ["10.0.0.2"], "10.0.0.1"],
    ["the peer has no address", ["10.0.0.0/8"], ""],
  ])("is not believed where %s", async (_, networks, peer) => {
    expect(await see(networks, peer, forwarded)).toEqual({ client: peer, scheme: "http" });
  });

  it.each([
    ["10.0.0.1", "10.0.0.1"],
    ["10.0.0.0/8", "10.200.0.1"],
    ["::1", "::1"],
    ["fd00::/8", "fd00::1"],
    ["10.0.0.0/8", "::ffff:10.0.0.1"],
  ])("is believed where %s is listed and %s asks", async (network, peer) => {
    expect(await see([network], peer, forwarded)).toEqual({ client: "198.51.100.7", scheme: "https" });
  });

  it.each([
    ["the client's own word before the proxy's", "203.0.113.1, 198.51.100.7", "198.51.100.7"],
    ["another trusted proxy on the way", "198.51.100.7, 10.0.0.9", "198.51.100.7"],
    ["nothing but trusted proxies", "10.0.0.8, 10.0.0.9", "10.0.0.8"],
    ["IPv6", "2001:db8::1", "2001:db8::1"],
    ["no address", "unknown", "10.0.0.1"],
    ["nothing", "", "10.0.0.1"],
  ])("is read from the right: %s", async (_, value, expected) => {
    const seen = await see(["10.0.0.0/8"], "10.0.0.1", [["x-forwarded-for", value]]);
    expect(seen).toEqual({ client: expected, scheme: "http" });
  });

  it("counts as one list where the header comes twice", async () => {
    const seen = await see(["10.0.0.0/8"], "10.0.0.1", [
      ["x-forwarded-for", "203.0.113.1"],
      ["X-Forwarded-For", "198.51.100.7"],
    ]);
    expect(seen?.client).toBe("198.51.100.7");
  });
});

describe("a network", () => {
  it.each([
    ["10.0.0.1", true],
    ["10.0.0.0/8", true],
    ["::/0", true],
    ["fd00::/128", true],
    ["10.0.0.0/33", false],
    ["fd00::/129", false],
    ["10.0.0.0/", false],
    ["10.0.0.0/8/8", false],
    ["nginx", false],
    ["", false],
  ])("is an address, or an address and a number of bits: %s", (text, expected) => {
    expect(isNetwork(text)).toBe(expected);
  });
});
