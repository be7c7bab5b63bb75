/** Access to the inspector: only for browsers on this machine, under a local host name. @module */
import { BlockList, isIPv6 } from "node:net";
import type { HTTPScope } from "tsgi";
import { headerValues } from "tsgi/internals";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** The names of this machine in a browser's address bar, with any port. */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Fields that proxies add: RFC 7239, RFC 9110 §7.6.3, and their older names. */
const OF_PROXY = /^(?:forwarded|via|x-forwarded.*|x-real-ip)$/i;

/**
 * Tells if a request was sent from this machine, and to a local host name. Attack: a page of any site makes a browser
 * on this machine ask, under a name that its owner has pointed to 127.0.0.1 (DNS rebinding). Attack: a proxy or a tunnel on this
 * machine, which writes the name of its target into `Host`, forwards a client from anywhere.
 */
export function isLocal({ client, headers = [] }: HTTPScope): boolean {
  const [address] = client ?? [""];
  if (address === "" || !LOOPBACK.check(address, isIPv6(address) ? "ipv6" : "ipv4")) return false;
  for (const [name] of headers) if (OF_PROXY.test(Buffer.from(name).toString("latin1"))) return false;
  const [host, ...others] = headerValues(headers, "host");
  return others.length === 0 && host !== undefined && LOCAL_HOST.test(host);
}
