/** The client of a request by the headers of trusted proxies. @module */
import type { Address, HeaderPair, HTTPScope } from "../../protocol/asgi.js";
import { headerValues } from "../../protocol/header-list.js";
import { trimOWS } from "../../protocol/http-grammar.js";
import type { Proxies } from "../../protocol/server-context.js";
import { configurationError } from "../../common/exceptions.js";
import { nodeModule, type NodeModules } from "../../common/platform.js";

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

type Net = NodeModules["node:net"];

/**
 * The peers whose `X-Forwarded-For` and `X-Forwarded-Proto` count. From any other client, these headers can be forged:
 * with an address that a guard accepts, or a scheme that was never encrypted.
 */
export class TrustedProxies implements Proxies {
  readonly #net: Net;
  readonly #addresses: InstanceType<Net["BlockList"]>;
  #trustsSockets = false;

  /**
   * @param list - Addresses, networks as `"10.0.0.0/8"`, `"loopback"`, `"private"`, and `"unix"` for clients that connect to
   * a Unix socket.
   * @param option - The option that needs it, for messages.
   * @throws ConfigurationError for any other entry, and on a platform without `node:net`.
   */
  constructor(list: readonly string[], option = "trustedProxies") {
    this.#net = nodeModule("node:net", option);
    this.#addresses = new this.#net.BlockList();
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

  /**
   * Sets client and scheme in the scope from the headers of the proxy, if it is listed. The client is `null` if the proxy
   * does not know its address, and writes `unknown` or another name (RFC 7239 §6).
   */
  apply(scope: HTTPScope): void {
    if (!this.trusts(scope.client ?? null)) {
      return;
    }
    const headers = scope.headers ?? [];
    const protocol = membersOf(headers, "x-forwarded-proto").at(-1)?.toLowerCase();
    if (protocol === "https" || protocol === "wss") {
      scope.scheme = "https";
    } else if (protocol === "http" || protocol === "ws") {
      scope.scheme = "http";
    }
    // From the right: each proxy adds the address that it saw, and entries to the left of the first unknown address can
    // be forged.
    for (const hop of membersOf(headers, "x-forwarded-for").toReversed()) {
      const address = toAddress(hop, this.#net);
      // Attack: with the address of the proxy instead, an unknown client would pass a guard of private networks.
      scope.client = address;
      if (address === null || !this.trusts(address)) {
        return;
      }
    }
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

/** `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1` or `[2001:db8::1]:4711`; `null` for anything else. */
function toAddress(text: string, { isIP }: Net): Address | null {
  if (isIP(text) !== 0) {
    return [text, null];
  }
  const [, inBrackets, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain ?? "";
  return isIP(host) === 0 ? null : [host, port === undefined ? null : Number(port)];
}
