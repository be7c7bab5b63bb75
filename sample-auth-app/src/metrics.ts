import { BlockList } from "node:net";

import { HTTPConnection, HTTPException, withParams } from "tsgi";

/** Loopback and private networks (RFC 1122, RFC 1918, RFC 4193), from which a monitoring system scrapes. */
const NETWORKS = ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"];
const familyOf = (address: string) => (address.includes(":") ? "ipv6" : "ipv4");
const internal = new BlockList();
for (const [address = "", prefix] of NETWORKS.map((network) => network.split("/"))) {
  internal.addSubnet(address, Number(prefix), familyOf(address));
}

/** Hides the metrics from clients of other networks. nginx hides them too: its own address is a private one. */
export const refusePublic = withParams({ connection: HTTPConnection }, async ({ connection: { client } }) => {
  if (!internal.check(client?.host ?? "", familyOf(client?.host ?? ""))) {
    throw new HTTPException(404);
  }
});
