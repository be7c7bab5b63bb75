import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import type { ASGIApp, HTTPScope } from "../../src/protocol/asgi.js";
import { App, ConfigurationError } from "../../src/index.js";
import { parseHost } from "../../src/protocol/http-grammar.js";
import { trustedHost } from "../../src/middleware/index.js";
import { serve } from "../../src/node.js";
import { Wire } from "../platforms/node/_http.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { describeMatrix } from "../../../test/support/matrix.js";

function create(...allowedHosts: string[]): App {
  const app = new App({ logger: new KeptLog(), middleware: [trustedHost({ allowedHosts })] });
  app.get("/", async () => "served");
  return app;
}

const host = (...values: string[]) => ({ headers: values.map((value) => ["host", value] as const) });

/** One rule for HTTP and for WebSockets. */
const rules: readonly (readonly [host: string, allowed: string, served: boolean])[] = [
  ["example.com", "example.com", true],
  ["EXAMPLE.com", "example.COM", true],
  ["example.com.", "example.com", true],
  ["example.com:8000", "example.com", true],
  ["example.com:", "example.com", true],
  ["example.com:8000", "example.com:8000", true],
  ["example.com:8001", "example.com:8000", false],
  ["example.com", "example.com:8000", false],
  ["example.com", "example.com:80", true],
  ["example.com", "example.com:443", false],
  ["example.com.evil.net", "example.com", false],
  ["evilexample.com", "example.com", false],
  ["www.example.com", "example.com", false],
  ["www.example.com", "*.example.com", true],
  ["a.b.example.com", "*.example.com", true],
  ["a.example.com:8000", "*.example.com:8000", true],
  ["a.example.com:81", "*.example.com:8000", false],
  ["example.com", "*.example.com", false],
  ["evilexample.com", "*.example.com", false],
  ["a.example.com.evil.net", "*.example.com", false],
  ["127.0.0.1:5000", "127.0.0.1", true],
  ["[::1]:5000", "[::1]", true],
  ["[0:0:0:0:0:0:0:1]", "[::1]", true],
  ["[::2]", "[::1]", false],
  ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", true],
  ["anything.at-all_1", "*", true],
];

describeMatrix("trustedHost", ({ call }) => {
  it.each(rules)("for Host %s and the entry %s: served %s", async (given, allowed, served) => {
    const answer = await call(create("other.example", allowed), "GET", "/", host(given));
    const expected = served
      ? { status: 200, json: "served" }
      : { status: 400, json: { detail: "Invalid host header" } };
    expect({ status: answer.status, json: answer.json }).toEqual(expected);
  });

  it("ignores headers with another host", async () => {
    const headers = [
      ["host", "evil.example"],
      ["x-forwarded-host", "example.com"],
      ["forwarded", "host=example.com"],
    ] as const;
    expect((await call(create("example.com"), "GET", "/", { headers })).status).toBe(400);
  });
});

describe("trustedHost", () => {
  // A server of ours refuses these before the application is asked; another one may not.
  it.each<[string, string[]]>([
    ["no Host", []],
    ["two Hosts", ["example.com", "example.com"]],
    ["an empty one", [""]],
    ["a user", ["user@example.com"]],
    ["a path", ["example.com/evil"]],
    ["a list", ["example.com, evil.net"]],
    ["a port that is none", ["example.com:80a"]],
    ["a port that is too high", ["example.com:65536"]],
    ["two ports", ["example.com:80:80"]],
    ["a line break", ["example.com\r\nx: y"]],
    ["a dot too many", ["example.com.."]],
    ["a percent-encoded letter", ["ex%61mple.com"]],
    ["a letter of another script", ["ex\u00e4mple.com"]],
    ["an address that is none", ["[:::1]"]],
    ["a zone", ["[fe80::1%25eth0]"]],
    ["an open bracket", ["[::1"]],
    ["more than a name can have", [`${"a".repeat(300)}.example.com`]],
  ])("rejects %s, even if any host is allowed", async (_, values) => {
    expect((await callInMemory(create("*"), "GET", "/", host(...values))).status).toBe(400);
  });

  it("uses the default port of the scheme if the Host contains no port", async () => {
    const inner = create("example.com:443");
    const overHTTPS: ASGIApp = (scope, receive, send) =>
      inner({ ...scope, scheme: "https" } as HTTPScope, receive, send);
    expect((await callInMemory(overHTTPS, "GET", "/", host("example.com"))).status).toBe(200);
    expect((await callInMemory(overHTTPS, "GET", "/", host("example.com:80"))).status).toBe(400);
  });

  it("parses any text in linear time, and returns only valid hosts", () => {
    const text = fc.oneof(fc.string({ maxLength: 400 }), fc.stringMatching(/^[[\]a-f0-9.:*%@/-]{0,300}$/));
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parseHost(given);
        expect(parsed === null || /^(?:[a-z0-9_~.-]+|\[[0-9a-f:]+\])$/.test(parsed.name)).toBe(true);
      }),
      { numRuns: fc.runs(2000) },
    );
    expect(parseHost("a.".repeat(1_000_000))).toBeNull();
  });

  it.each<[string, unknown, RegExp]>([
    ["no options", undefined, /takes an object with the options allowedHosts/],
    ["no hosts", {}, /needs allowedHosts/],
    ["an empty list", { allowedHosts: [] }, /needs allowedHosts/],
    ["a text", { allowedHosts: "example.com" }, /needs allowedHosts/],
    ["another option", { hosts: ["*"] }, /no option "hosts"/],
    ["a scheme", { allowedHosts: ["https://example.com"] }, /is not a host/],
    ["a wildcard in the middle", { allowedHosts: ["a.*.com"] }, /is not a host/],
    ["a wildcard of an address", { allowedHosts: ["*.[::1]"] }, /is not a host/],
    ["an address without brackets", { allowedHosts: ["::1"] }, /is not a host/],
    ["a number", { allowedHosts: [1] }, /is not a host/],
  ])("rejects %s when it is created", (_, options, message) => {
    const make = () => trustedHost(options as never);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});

describe("allowedHosts of serve", () => {
  const accepting: ASGIApp = async (scope, receive, send) => {
    if (scope.type !== "websocket") return;
    await receive();
    await send({ type: "websocket.accept" });
  };

  it.each(rules)("for Host %s and the entry %s: WebSocket opened %s", async (given, allowed, opened) => {
    const allowedHosts = ["other.example", allowed];
    await using server = await serve(accepting, { port: 0, signals: false, logger: new KeptLog(), allowedHosts });
    await using wire = new Wire(Number(new URL(server.url).port));
    wire.write(
      `GET / HTTP/1.1\r\nHost: ${given}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    expect(await wire.until(/\r\n\r\n/)).toMatch(opened ? /^HTTP\/1\.1 101 / : /^HTTP\/1\.1 400 /);
  });

  it("rejects an entry that is not a host when the server starts", async () => {
    const served = serve(accepting, { port: 0, allowedHosts: ["https://example.com/"] });
    await expect(served).rejects.toThrow('serve(): "https://example.com/" in allowedHosts is not a host.');
    await expect(served).rejects.toMatchObject({ code: "TSGI_INVALID_TRUSTED_HOST" });
  });
});
