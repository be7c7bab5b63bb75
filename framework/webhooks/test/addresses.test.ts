/** The addresses that deliveries may use. */
import { describe, expect, it } from "@jest/globals";
import { AddressGuard } from "../src/addresses.js";

const guard = new AddressGuard([]);

describe("an address", () => {
  it.each([
    ["8.8.8.8", "IPv4"],
    ["1.1.1.1", "IPv4"],
    ["100.63.255.255", "below the shared range"],
    ["100.128.0.0", "above it"],
    ["172.15.255.255", "below a private range"],
    ["172.32.0.0", "above it"],
    ["198.17.255.255", "below the benchmark range"],
    ["223.255.255.255", "below multicast"],
    ["2606:4700:4700::1111", "IPv6"],
    ["2001:4860:4860::8888", "IPv6 in 2001::/16"],
  ])("is allowed if it is public: %s (%s)", (address) => {
    expect(guard.isAllowed(address)).toBe(true);
  });

  it.each([
    ["0.0.0.0", "this host"],
    ["0.1.2.3", "this network"],
    ["10.0.0.1", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "shared"],
    ["100.127.255.255", "shared"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.1.1", "link-local"],
    ["198.18.0.1", "benchmark"],
    ["198.19.255.255", "benchmark"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.255", "multicast"],
    ["192.0.2.1", "documentation"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["192.0.0.8", "protocol assignments"],
    ["192.88.99.1", "6to4 relay"],
    ["169.254.169.254", "metadata of AWS, Google and Azure"],
    ["169.254.170.2", "metadata of ECS"],
    ["100.100.100.200", "metadata of Alibaba"],
    ["192.0.0.192", "metadata of Oracle"],
    ["168.63.129.16", "metadata of Azure"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::ffff:127.0.0.1", "IPv4-mapped"],
    ["::ffff:8.8.8.8", "IPv4-mapped"],
    ["::ffff:a9fe:a9fe", "IPv4-mapped"],
    ["::127.0.0.1", "IPv4-compatible"],
    ["::ffff:0:127.0.0.1", "IPv4-translated"],
    ["64:ff9b::a9fe:a9fe", "NAT64"],
    ["64:ff9b:1::a00:1", "local NAT64"],
    ["2002:7f00:1::", "6to4"],
    ["2001::1", "Teredo"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"],
    ["2001:2::1", "benchmark"],
    ["2001:db8::1", "documentation"],
    ["3fff::1", "documentation"],
    ["100::1", "discard"],
    ["fc00::1", "unique local"],
    ["fd00:ec2::254", "metadata of AWS"],
    ["fd20:ce::254", "metadata of Google"],
    ["fe80::1", "link-local"],
    ["fe80::1%lo", "link-local with a zone"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["5f00::1", "segment routing"],
    ["4000::1", "not assigned"],
    ["localhost", "not an address"],
    ["", "not an address"],
  ])("is rejected if it is not public: %s (%s)", (address) => {
    expect(guard.isAllowed(address)).toBe(false);
  });

  it("is allowed by a range in allow", () => {
    const inner = new AddressGuard(["10.1.0.0/16", "fd00::/8", "127.0.0.1"]);
    for (const address of ["10.1.2.3", "fd12::1", "127.0.0.1"]) expect(inner.isAllowed(address)).toBe(true);
    for (const address of ["10.2.0.1", "fe80::1", "127.0.0.2", "::1"]) expect(inner.isAllowed(address)).toBe(false);
  });

  it.each(["", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "fd00::/129", "10.0.0/8", "10.0.0.0/8/8", "10.0.0.0/"])(
    "rejects another value in allow: %p",
    (range) => {
      expect(() => new AddressGuard([range])).toThrow(
        expect.objectContaining({ name: "ConfigurationError", code: "TSGI_INVALID_WEBHOOK_ALLOW" }),
      );
    },
  );
});
