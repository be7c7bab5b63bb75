import { BlockList, isIP } from "node:net";

import type { HeaderPair, HTTPScope, Middleware, WebSocketScope } from "tsgi";

/** Whether text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    rest.length === 0 && bits >= 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
}

/**
 * Believes what listed proxies say of the client's address and scheme, and nobody else: anyone can send these headers.
 *
 * @param networks addresses and networks, as `isNetwork` takes them
 */
export function trustedProxies(networks: readonly string[]): Middleware {
  const trusted = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    trusted.addSubnet(address, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family);
  }
  const isTrusted = (host: string): boolean =>
    isIP(host) !== 0 && trusted.check(host, isIP(host) === 6 ? "ipv6" : "ipv4");
  return (app) => (scope, receive, send) =>
    scope.type !== "lifespan" && isTrusted(scope.client?.[0] ?? "")
      ? app(asTheProxySays(scope, isTrusted), receive, send)
      : app(scope, receive, send);
}

function asTheProxySays<S extends HTTPScope | WebSocketScope>(scope: S, isTrusted: (host: string) => boolean): S {
  const headers = [...(scope.headers ?? [])];
  const scheme = valuesOf(headers, "x-forwarded-proto").at(-1);
  const isSecure = scheme === "https";
  const secureScheme = scope.type === "websocket" ? "wss" : "https";
  // Each proxy adds at the right whom it has seen; what stands left of the first stranger is that stranger's word.
  const hops = valuesOf(headers, "x-forwarded-for").toReversed();
  const client = hops.find((hop) => !isTrusted(hop)) ?? hops.at(-1);
  return {
    ...scope,
    ...(isSecure ? { scheme: secureScheme } : {}),
    ...(client !== undefined && isIP(client) !== 0 ? { client: [client, 0] } : {}),
  };
}

function valuesOf(headers: readonly HeaderPair[], name: string): string[] {
  return headers
    .filter(([key]) => Buffer.from(key).toString("latin1").toLowerCase() === name)
    .flatMap(([, value]) => Buffer.from(value).toString("latin1").split(","))
    .map((value) => value.trim());
}
