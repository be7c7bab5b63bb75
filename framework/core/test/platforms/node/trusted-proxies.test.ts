import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import type { HTTPScope } from "../../../src/protocol/asgi.js";
import { HeaderList } from "../../../src/protocol/header-list.js";
import { App, WebSocket } from "../../../src/index.js";
import { httpsRedirect } from "../../../src/middleware/index.js";
import { serve, toNodeHandler } from "../../../src/node.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { toFetchHandler } from "../../../src/platforms/web/index.js";
import { TrustedProxies } from "../../../src/platforms/node/trusted-proxies.js";
import { useLoopPackage } from "../../../src/platforms/concurrency/loop.js";
import { fetchedUws } from "../../../../uwebsockets/test/_uws.js";
import { httpApp, respond, served, Wire } from "./_http.js";

/** The resulting client and scheme of a scope from 10.0.0.1. */
function applied(
  list: readonly string[],
  headers: readonly string[],
  peer: HTTPScope["client"] = ["10.0.0.1", 5],
  clientAddressHeader?: string,
) {
  const scheme = "http";
  const scope: HTTPScope = {
    type: "http",
    method: "GET",
    path: "/",
    scheme,
    client: peer,
    headers: new HeaderList(headers),
  };
  new TrustedProxies(list, { clientAddressHeader }).apply(scope);
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

describe("X-Forwarded-Proto with X-Forwarded-For", () => {
  const CLIENT = "203.0.113.7";
  it.each([
    ["that has as many entries is read at the hop of the client", `${CLIENT}, 10.0.0.9`, "https, http", "https"],
    ["is read at the hop of the client, not left of it", `1.1.1.1, ${CLIENT}, 10.0.0.9`, "http, https, http", "https"],
    ["that a client has forged is ignored", `1.1.1.1, ${CLIENT}, 10.0.0.9`, "https, http, http", "http"],
    ["is read at an unknown hop", "unknown, 10.0.0.9", "https, http", "https"],
    ["is read at the first hop if all are proxies", "10.0.0.8, 10.0.0.9", "https, http", "https"],
    ["with fewer entries counts with its last one", `1.1.1.1, ${CLIENT}, 10.0.0.9`, "http, https", "https"],
    ["with more entries counts with its last one", CLIENT, "http, https", "https"],
    ["counts with its last entry if X-Forwarded-For is empty", "", "http, https", "https"],
  ])("%s", (_what, addresses, protocols, scheme) => {
    const headers = ["X-Forwarded-For", addresses, "X-Forwarded-Proto", protocols];
    expect(applied(["10.0.0.0/8"], headers)[1]).toBe(scheme);
  });

  it("does not let httpsRedirect redirect forever if the second proxy connects by http", async () => {
    const app = new App({ middleware: [httpsRedirect()] });
    app.get("/", async () => "served");
    await using client = await TestClient.open(app, { trustedProxies: ["loopback", "10.0.0.0/8"] });
    const sent = client.get("/").redirects(0).set("X-Forwarded-For", `${CLIENT}, 10.0.0.9`);
    await sent.set("X-Forwarded-Proto", "https, http").expect(200, '"served"');
  });
});

describe("clientAddressHeader", () => {
  const HEADER = "Fly-Client-IP";
  const seen = (list: readonly string[], ...headers: string[]) => applied(list, headers, ["10.0.0.1", 5], HEADER);
  const given = (...values: string[]) => values.flatMap((value) => [HEADER.toLowerCase(), value]);

  it.each([
    ["an address of IPv4", given("203.0.113.7"), "203.0.113.7"],
    ["an address of IPv6", given("2001:db8::1"), "2001:db8::1"],
    ["IPv6 in brackets", given("[2001:db8::1]"), "2001:db8::1"],
    ["a port, which is ignored", given("203.0.113.7:4711"), "203.0.113.7"],
    ["a port after IPv6, which is ignored", given("[2001:db8::1]:4711"), "2001:db8::1"],
    ["blanks around an address", given(" 203.0.113.7\t"), "203.0.113.7"],
  ] as const)("reads %s", (_what, headers, address) => {
    expect(seen(["10.0.0.1"], ...headers)[0]).toEqual([address, null]);
  });

  it.each([
    ["is missing", []],
    ["is empty", given("")],
    ["is repeated", given("203.0.113.7", "203.0.113.7")],
    ["is a list", given("203.0.113.7, 198.51.100.7")],
    ["is not an address", given("unknown")],
    ["is almost an address", given("203.0.113.256")],
    ["has a zone, which only its own machine knows", given("fe80::1%eth0")],
    ["is hostile", given("__proto__")],
  ] as const)("leaves the peer as the client if it %s, and does not read X-Forwarded-For", (_what, headers) => {
    expect(seen(["10.0.0.1"], ...headers, ...forwarded("198.51.100.9"))[0]).toEqual(PROXY);
  });

  it("is ignored from a peer that is not listed", () => {
    expect(seen(["192.0.2.1"], ...given("203.0.113.7"))[0]).toEqual(PROXY);
  });

  it("takes precedence over X-Forwarded-For, of which a client can send any part", () => {
    const headers = [...given("203.0.113.7"), ...forwarded("1.1.1.1, 203.0.113.7, 192.0.2.80")];
    expect(seen(["10.0.0.1"], ...headers)[0]).toEqual(["203.0.113.7", null]);
  });

  it.each([[given("203.0.113.7")], [given("unknown")]])(
    "leaves the scheme to the last X-Forwarded-Proto: %j",
    (sent) => {
      const headers = [...sent, ...forwarded("203.0.113.7, 10.0.0.9"), "x-forwarded-proto", "http, https"];
      expect(seen(["10.0.0.0/8"], ...headers)[1]).toBe("https");
    },
  );

  it.each(["", "two words", "a:b", 7])("rejects the name %j", async (clientAddressHeader) => {
    const options = { trustedProxies: ["loopback"], clientAddressHeader: clientAddressHeader as string };
    await expect(serve(async () => {}, options)).rejects.toThrow(/clientAddressHeader should be the name of a header/);
    expect(() => toNodeHandler(async () => {}, options)).toThrow(/the name of a header/);
    expect(() => toFetchHandler(async () => {}, options)).toThrow(/clientAddressHeader|trustedProxies/);
  });

  it("requires trustedProxies, because any client can send it", async () => {
    const error = { code: "TSGI_UNTRUSTED_CLIENT_ADDRESS" };
    await expect(serve(async () => {}, { clientAddressHeader: HEADER })).rejects.toMatchObject(error);
    expect(() => toNodeHandler(async () => {}, { clientAddressHeader: HEADER })).toThrow(
      expect.objectContaining(error),
    );
  });
});

const uws = fetchedUws();
const loops = uws === null ? (["libuv"] as const) : (["libuv", "uwebsockets"] as const);

/** The clients that each driver reports for requests with the header. */
const options = { trustedProxies: ["loopback"], clientAddressHeader: "Fly-Client-IP" };
const WHO = httpApp((scope, _receive, send) => respond(send, 200, `<${scope.client?.[0]}>`));

describe("clientAddressHeader of each driver", () => {
  const GET =
    "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7, 192.0.2.80\r\nFly-Client-IP: 203.0.113.7\r\n\r\n";

  it.each(loops)("is read by serve: %s", async (loop) => {
    useLoopPackage(uws);
    await using server = await served(WHO, { ...options, loop });
    useLoopPackage(null);
    expect(server.loop).toBe(loop);
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).until(/>$/)).toContain("<203.0.113.7>");
  });

  it("is read on HTTP/2", async () => {
    await using server = await served(WHO, { ...options, http2: true });
    const session = connect(server.url);
    const stream = session.request({ ":path": "/", "fly-client-ip": "203.0.113.7" });
    expect(await textOf(stream)).toBe("<203.0.113.7>");
    session.close();
  });

  it("is read by toNodeHandler", async () => {
    const server = createServer(toNodeHandler(WHO, options)).listen(0, "127.0.0.1");
    await once(server, "listening");
    await using wire = new Wire((server.address() as AddressInfo).port);
    expect(await wire.write(GET).until(/>/)).toContain("<203.0.113.7>");
    server.closeAllConnections();
    server.close();
  });

  it("is read by serve for the handshake of a WebSocket", async () => {
    const app = new App();
    app.websocket("/", { params: { ws: WebSocket } }, async ({ ws }) => {
      await ws.accept();
      await ws.send(String(ws.client?.host));
    });
    await using server = await served(app, options);
    await using wire = new Wire(server.port);
    const handshake = [
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    expect(await wire.write(GET.replace("\r\n\r\n", `\r\n${handshake.join("\r\n")}\r\n\r\n`)).until(/203/)).toContain(
      "203.0.113.7",
    );
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
