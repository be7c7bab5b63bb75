/** The networks from which a monitoring system scrapes. @module */
import { BlockList, isIPv6 } from "node:net";
import { HTTPConnection, HTTPException, withParams } from "tsgi";

/** Loopback and private networks (RFC 1122, RFC 1918, RFC 4193). */
const NETWORKS = [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["::1", 128],
  ["fc00::", 7],
] as const;

const familyOf = (address: string) => (isIPv6(address) ? "ipv6" : "ipv4");

const internal = new BlockList();
for (const [address, bits] of NETWORKS) internal.addSubnet(address, bits, familyOf(address));

/** Hides a route from the clients of other networks. */
export const refusePublic = withParams({ connection: HTTPConnection }, async ({ connection: { client } }) => {
  const address = client?.host ?? "";
  if (!internal.check(address, familyOf(address))) throw new HTTPException(404);
});
