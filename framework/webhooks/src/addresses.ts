/** The addresses to which deliveries are sent. Attack: an endpoint that leads into the application's own network (SSRF). @module */
import dns, { type LookupAddress } from "node:dns";
import { BlockList, isIP } from "node:net";
import { webhooksError } from "./errors.js";

/** IANA IPv4 and IPv6 Special-Purpose Address Registries, multicast, and the metadata address of Azure, which is public. */
const RESERVED = listOf(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24",
  "192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24",
  "224.0.0.0/4 240.0.0.0/4 168.63.129.16",
  // Teredo and other protocols, documentation, 6to4.
  "2001::/23 2001:db8::/32 3fff::/20 2002::/16",
);

/** All global unicast addresses of IPv6 (RFC 4291 §2.4). Every other range is loopback, local, multicast or a form of IPv4. */
const GLOBAL = listOf("2000::/3");

function listOf(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges.flatMap((text) => text.split(" "))) {
    const [, address = "", bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(range) ?? [];
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    if (family === 0 || Number(bits ?? most) > most) throw webhooksError("TSGI_INVALID_WEBHOOK_ALLOW", range);
    list.addSubnet(address, Number(bits ?? most), family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** A delivery that must not be sent, now or later. Its message is shown to the owner of the endpoint. */
export class RefusedError extends Error {}

/** Decides which addresses deliveries may use. */
export class AddressGuard {
  readonly #allowed: BlockList;

  /** @param allow - Further ranges in CIDR notation. @throws ConfigurationError for anything else. */
  constructor(allow: readonly string[]) {
    this.#allowed = listOf(...allow);
  }

  isAllowed(address: string): boolean {
    const type = isIP(address) === 4 ? "ipv4" : "ipv6";
    // An address with a zone is link-local.
    if (isIP(address) === 0 || address.includes("%")) return false;
    if (this.#allowed.check(address, type)) return true;
    return !RESERVED.check(address, type) && (type === "ipv4" || GLOBAL.check(address, type));
  }

  /**
   * The addresses of a host, to be used for the connection: a second lookup could have another result (DNS rebinding).
   *
   * @param host - As `URL` writes it.
   * @throws RefusedError if one of them is not allowed. The message omits it, because it may be a name of an inner network.
   */
  async resolve(host: string): Promise<readonly LookupAddress[]> {
    const literal = host.replace(/^\[(.*)\]$/, "$1");
    const family = isIP(literal);
    const addresses = family === 0 ? await lookUp(host) : [{ address: literal, family }];
    if (addresses.every(({ address }) => this.isAllowed(address))) return addresses;
    throw new RefusedError(`The address of ${host} is not public`);
  }
}

function lookUp(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}
