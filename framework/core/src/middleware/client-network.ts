/** `::ffff:192.0.2.1`, which a socket of both families calls an IPv4 client; the last 32 bits may be hexadecimal. */
const MAPPED = /^(?:0{0,4}:){2,5}ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/**
 * The network that one client has: an IPv4 address, the /64 of an IPv6 address. Attack: a client with one IPv6 address has
 * the 2^64 of its network (RFC 6177 §2), and could be counted as another with each request.
 *
 * @example
 * ```ts
 * import { clientNetwork } from "tsgi/middleware";
 *
 * console.log(clientNetwork("192.0.2.7")); // 192.0.2.7
 * ```
 */
export function clientNetwork(host: string): string {
  if (!host.includes(":")) return host;
  const mapped = MAPPED.exec(host);
  if (mapped) return mapped[1] ?? [mapped[2], mapped[3]].flatMap((group = "") => toBytes(group)).join(".");
  const [head = "", tail] = (host.split("%")[0] as string).split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  // A tail in dotted form stands for two groups; it is behind the network in any case.
  const size = back.length + (back.at(-1)?.includes(".") ? 1 : 0);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - size);
  const groups = [...front, ...Array<string>(zeros).fill("0"), ...back].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function toBytes(group: string): [number, number] {
  const bits = Number.parseInt(group, 16);
  return [bits >> 8, bits & 255];
}
