/** The client of a request by the headers of trusted proxies. @module */
import type { Address, HeaderPair, HTTPScope } from "../../protocol/asgi.js";
import { headerValues } from "../../protocol/header-list.js";
import { HEADER_NAME, parseAddress, trimOWS } from "../../protocol/http-grammar.js";
import type { Proxies } from "../../protocol/server-context.js";
import { configurationError } from "../../common/exceptions.js";
import { LIST, type OptionRules } from "../../common/options.js";
import { nodeModule, type NodeModules } from "../../common/platform.js";

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

const SCHEMES: ReadonlyMap<string, "http" | "https"> = new Map([
  ["https", "https"],
  ["wss", "https"],
  ["http", "http"],
  ["ws", "http"],
]);

/** The options of a server about its proxies. */
export interface ProxyOptions {
  /**
   * The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are used: addresses, networks as `"10.0.0.0/8"`,
   * `"loopback"`, `"private"`, and `"unix"` for clients of a Unix socket. Empty by default: any client can send these
   * headers.
   */
  trustedProxies?: readonly string[];
  /**
   * The header with the client's address, if the trusted proxies set one: `"Fly-Client-IP"`, `"CF-Connecting-IP"`. It is
   * used instead of `X-Forwarded-For`, from trusted proxies only. If it does not contain exactly one address, the client
   * is the peer. Choose a header that the proxies replace in each request.
   */
  clientAddressHeader?: string;
}

/** The rules of {@link ProxyOptions}. */
export const PROXY_OPTIONS: OptionRules<ProxyOptions> = { trustedProxies: LIST, clientAddressHeader: HEADER_NAME };

/** The proxies of a server; `null` if `trustedProxies` is not set. @throws ConfigurationError for options that cannot work. */
export function proxiesOf({ trustedProxies, clientAddressHeader }: ProxyOptions): TrustedProxies | null {
  if (trustedProxies !== undefined) return new TrustedProxies(trustedProxies, { clientAddressHeader });
  if (clientAddressHeader === undefined) return null;
  throw configurationError("TSGI_UNTRUSTED_CLIENT_ADDRESS", clientAddressHeader);
}

type Net = NodeModules["node:net"];

/**
 * The peers whose headers about the client are used. From any other client, these headers can be forged: with an address
 * that a guard accepts, or a scheme that was never encrypted.
 */
export class TrustedProxies implements Proxies {
  readonly #net: Net;
  readonly #addresses: InstanceType<Net["BlockList"]>;
  /** In lower case; `null` for `X-Forwarded-For`. */
  readonly #header: string | null;
  #trustsSockets = false;

  /**
   * @param list - Addresses, networks as `"10.0.0.0/8"`, `"loopback"`, `"private"`, and `"unix"` for clients that connect to
   * a Unix socket.
   * @param settings - The header with the client's address, and the name of the option for messages.
   * @throws ConfigurationError for any other entry, and on a platform without `node:net`.
   */
  constructor(
    list: readonly string[],
    {
      clientAddressHeader,
      option = "trustedProxies",
    }: { clientAddressHeader?: string | undefined; option?: string } = {},
  ) {
    this.#net = nodeModule("node:net", option);
    this.#addresses = new this.#net.BlockList();
    this.#header = clientAddressHeader?.toLowerCase() ?? null;
    for (const entry of list.flatMap((name) => NAMED[name] ?? [name])) {
      if (entry === "unix") {
        this.#trustsSockets = true;
      } else {
        this.#add(entry);
      }
    }
  }

  #add(entry: string): void {
    const [address = "", bits, ...more] = entry.split("/");
    const version = this.#net.isIP(address);
    const family = version === 6 ? "ipv6" : "ipv4";
    const most = version === 6 ? 128 : 32;
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (version === 0 || !isNetwork || more.length > 0) {
      throw configurationError("TSGI_INVALID_TRUSTED_PROXY", entry);
    }
    if (bits === undefined) {
      this.#addresses.addAddress(address, family);
    } else {
      this.#addresses.addSubnet(address, Number(bits), family);
    }
  }

  /** Sets client and scheme in the scope from the headers of the proxy, if it is listed. */
  apply(scope: HTTPScope): void {
    if (!this.trusts(scope.client ?? null)) return;
    const headers = scope.headers ?? [];
    const protocols = membersOf(headers, "x-forwarded-proto");
    let protocol = protocols.at(-1);
    if (this.#header === null) {
      const hops = membersOf(headers, "x-forwarded-for");
      const hop = this.#findClient(scope, hops);
      if (protocols.length === hops.length) protocol = protocols[hop];
    } else {
      const [only = "", ...others] = headerValues(headers, this.#header);
      const address = others.length === 0 ? parseAddress(trimOWS(only)) : null;
      if (address !== null) scope.client = [address[0], null];
    }
    const scheme = SCHEMES.get(protocol?.toLowerCase() ?? "");
    if (scheme !== undefined) scope.scheme = scheme;
  }

  /**
   * Sets the client to the last hop that is not listed. The client is `null` if the proxy does not know its address, and
   * writes `unknown` or another name (RFC 7239 §6).
   *
   * @returns The index of the client's hop.
   */
  #findClient(scope: HTTPScope, hops: readonly string[]): number {
    // From the right: each proxy adds the address that it saw, and entries to the left of the first unknown address can
    // be forged.
    for (let hop = hops.length - 1; hop >= 0; hop--) {
      const address = parseAddress(hops[hop] ?? "");
      // Attack: with the address of the proxy instead, an unknown client would pass a guard of private networks.
      scope.client = address;
      if (address === null || !this.trusts(address)) return hop;
    }
    return 0;
  }

  /** Tells if a peer is listed. */
  trusts(peer: Address | null): boolean {
    if (peer === null) {
      return this.#trustsSockets;
    }
    return this.#addresses.check(peer[0], this.#net.isIPv6(peer[0]) ? "ipv6" : "ipv4");
  }
}

/** The members of a list header, from all its lines, without empty ones (RFC 9110 §5.6.1.2). */
function membersOf(headers: Iterable<HeaderPair>, name: string): string[] {
  return headerValues(headers, name).flatMap((value) => value.split(",").map(trimOWS).filter(Boolean));
}
