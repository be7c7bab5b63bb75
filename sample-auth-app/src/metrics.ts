import { BlockList } from "node:net";

import { HTTPConnection, HTTPException, withParams } from "tsgi";

/** Loopback and private networks (RFC 1122, RFC 1918, RFC 4193), from which a monitoring system scrapes. */
const INTERNAL = new BlockList();
for (const [network, prefix, family] of [
  ["127.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::1", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
] as const) {
  INTERNAL.addSubnet(network, prefix, family);
}

/**
 * Hides the metrics from clients of other networks. The address is set by a proxy of `TRUSTED_PROXIES`, so nginx hides
 * them too: its own address is a private one if it is not trusted.
 */
export const refusePublic = withParams({ connection: HTTPConnection }, async ({ connection }) => {
  const host = connection.client?.host ?? "";
  if (!INTERNAL.check(host, host.includes(":") ? "ipv6" : "ipv4")) {
    throw new HTTPException(404);
  }
});
