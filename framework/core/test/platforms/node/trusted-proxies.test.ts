import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import type { HTTPScope } from "../../../src/protocol/asgi.js";
import { HeaderList } from "../../../src/protocol/header-list.js";
import { TrustedProxies } from "../../../src/platforms/node/trusted-proxies.js";
import { httpApp, respond, served, Wire } from "./_http.js";

/** The resulting client and scheme of a scope from 10.0.0.1. */
function applied(list: readonly string[], headers: readonly string[], peer: HTTPScope["client"] = ["10.0.0.1", 5]) {
  const scheme = "http";
  const scope: HTTPScope = {
    type: "http",
    method: "GET",
    path: "/",
    scheme,
    client: peer,
    headers: new HeaderList(headers),
  };
  new TrustedProxies(list).apply(scope);
  return [scope.client, scope.scheme];
}
const forwarded = (...values: string[]) => values.flatMap((value) => ["X-Forwarded-For", value]);
const PROXY = ["10.0.0.1", 5];

describe("X-Forwarded-For", () => {
  it.each([
    ["is not believed from a stranger", ["192.0.2.1"], forwarded("203.0.113.7"), PROXY],
    ["is believed from a listed address", ["10.0.0.1"], forwarded("203.0.113.7"), ["203.0.113.7", null]],
    ["is believed from a listed network", ["10.0.0.0/8"], forwarded("203.0.113.7"), ["203.0.113.7", null]],
    ["is believed from a private network", ["private"], forwarded("203.0.113.7"), ["203.0.113.7", null]],
    ["gives the rightmost stranger", ["10.0.0.0/8"], forwarded("1.1.1.1, 203.0.113.7"), ["203.0.113.7", null]],
    ["passes over further proxies", ["10.0.0.0/8"], forwarded("203.0.113.7, 10.0.0.9"), ["203.0.113.7", null]],
    ["is one list over several lines", ["10.0.0.0/8"], forwarded("203.0.113.7", "10.0.0.9"), ["203.0.113.7", null]],
    ["may have ports", ["10.0.0.1"], forwarded("203.0.113.7:4711"), ["203.0.113.7", 4711]],
    ["may have IPv6 in brackets", ["10.0.0.1"], forwarded("[2001:db8::1]:4711"), ["2001:db8::1", 4711]],
    ["may have IPv6 without", ["10.0.0.1"], forwarded("2001:db8::1"), ["2001:db8::1", null]],
    ["stops at what is no address", ["10.0.0.0/8"], forwarded("203.0.113.7, unknown, 10.0.0.9"), null],
    ["of an unknown client gives none", ["10.0.0.1"], forwarded("unknown"), null],
    ["that is empty says nothing", ["10.0.0.1"], forwarded(""), PROXY],
    ["may have empty members", ["10.0.0.1"], forwarded("203.0.113.7, ,"), ["203.0.113.7", null]],
    ["that is hostile gives no client", ["10.0.0.1"], forwarded("__proto__"), null],
  ] as const)("%s", (_what, list, headers, client) => {
    expect(applied(list, headers)[0]).toEqual(client);
  });

  it("is trusted from clients of a listed Unix socket only", () => {
    expect(applied(["unix"], forwarded("203.0.113.7"), null)[0]).toEqual(["203.0.113.7", null]);
    expect(applied(["unix"], forwarded("203.0.113.7, unknown"), null)[0]).toBeNull();
    expect(applied(["loopback"], forwarded("203.0.113.7"), null)[0]).toBeNull();
  });

  it("is believed from IPv4 in IPv6, as a socket that listens on both has it", () => {
    expect(applied(["loopback"], forwarded("203.0.113.7"), ["::ffff:127.0.0.1", 5])[0]).toEqual(["203.0.113.7", null]);
  });
});

describe("X-Forwarded-Proto", () => {
  it.each([
    ["https", ["10.0.0.1"], "https"],
    ["wss", ["10.0.0.1"], "https"],
    ["http, HTTPS", ["10.0.0.1"], "https"],
    ["https, http", ["10.0.0.1"], "http"],
    ["javascript", ["10.0.0.1"], "http"],
    ["https", ["192.0.2.1"], "http"],
  ] as const)("%s from a peer with the list %j makes the scheme %s", (value, list, scheme) => {
    expect(applied(list, ["x-forwarded-proto", value])[1]).toBe(scheme);
  });
});

describe("trustedProxies", () => {
  it.each(["", "nginx", "10.0.0.0/33", "10.0.0.0/", "::/129", "10.0.0", "1.2.3.4/8/8"])("rejects %j", (entry) => {
    expect(() => new TrustedProxies([entry])).toThrow(/^trustedProxies: expected addresses/);
  });

  it("is empty by default; if set, it applies to requests and their scheme", async () => {
    const app = httpApp((scope, _receive, send) => respond(send, 200, `<${scope.scheme} ${scope.client?.[0]}>`));
    const GET = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\n\r\n";
    await using alone = await served(app);
    await using plain = new Wire(alone.port);
    expect(await plain.write(GET).until(/>$/)).toContain("<http 127.0.0.1>");
    await using behind = await served(app, { trustedProxies: ["loopback"] });
    await using wire = new Wire(behind.port);
    expect(await wire.write(GET).until(/>$/)).toContain("<https 203.0.113.7>");
  });

  it("trusts a proxy on a Unix socket", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tsgi-proxy-"));
    const path = join(folder, "app.sock");
    {
      const app = httpApp((scope, _receive, send) => respond(send, 200, `${scope.client?.[0]}`));
      await using server = await served(app, { path, trustedProxies: ["unix"] });
      expect(server.url).toBe(`unix:${path}`);
      const text = await new Promise((resolve, reject) => {
        const sent = request({ socketPath: path, headers: { "x-forwarded-for": "203.0.113.7" } }, (answer) => {
          answer.on("data", (chunk: Buffer) => resolve(chunk.toString()));
        });
        sent.once("error", reject).end();
      });
      expect(text).toBe("203.0.113.7");
    }
    await rm(folder, { recursive: true });
  });
});
