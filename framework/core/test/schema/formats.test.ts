import { describe, expect, it } from "@jest/globals";
import { t } from "../../src/index.js";
import { compileSchema } from "../../src/schema/schema.js";
import { Faults } from "../../src/schema/faults.js";

function fits(format: string, text: string): boolean {
  const faults = new Faults();
  compileSchema(t.String({ format })).check(text, faults);
  return faults.count === 0;
}

/** Texts that match a format, and texts that do not, each with the section that decides it if it is not obvious. */
const TABLE: Record<string, { good: readonly string[]; bad: readonly string[] }> = {
  "date-time": {
    good: ["2024-02-29T12:00:00Z", "2024-02-29t12:00:00z", "2024-02-29 12:00:00.5-23:59", "1990-12-31T23:59:60Z"],
    bad: [
      "2024-02-29",
      "2023-02-29T12:00:00Z",
      "2024-02-29T12:00:00",
      "2024-02-29T24:00:00Z",
      "2024-02-29T12:00:00+24:00",
    ],
  },
  date: {
    good: ["2000-02-29", "2024-12-31"],
    bad: ["1900-02-29", "2024-13-01", "2024-04-31", "2024-1-1", "2024-01-00"],
  },
  time: { good: ["12:00:00Z", "23:59:60.25+01:00"], bad: ["12:00:00", "24:00:00Z", "12:60:00Z", "12:00Z"] },
  duration: {
    good: ["P1D", "PT0.5S", "P1Y2M3DT4H5M6S", "P3W"],
    bad: ["P", "PT", "1D", "P1W1D", "P1S", "PT1D", "P-1D"],
  },
  email: {
    good: ["a@b", "first.last+tag@sub.example.org"],
    bad: ["a", "@b", "a@", "a b@c", "a@-b", "a@b..c", "a@b\n", `${"a".repeat(65)}@b`, "ä@b"],
  },
  hostname: {
    good: ["a", "a-b.example", "xn--bcher-kva.example"],
    bad: ["", "-a", "a-", "a..b", "a_b", "ä", "a".repeat(64)],
  },
  ipv4: {
    good: ["0.0.0.0", "255.255.255.255", "1.2.3.4"],
    bad: ["256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4.", "1.2.3.4 ", "::1"],
  },
  ipv6: {
    good: ["::", "::1", "2001:db8::8:800:200c:417a", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:1.2.3.4"],
    bad: [
      ":",
      ":::",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      "12345::",
      "g::",
      "::1.2.3",
      "1.2.3.4",
      "fe80::1%eth0",
    ],
  },
  uri: {
    good: [
      "http://a",
      "https://user:pw@example.org:8080/p/a;t=h?q=%C3%A4#f",
      "http://[::1]:80/",
      "mailto:a@b.c",
      "urn:isbn:0451450523",
      "file:///etc/passwd",
      "tel:+1-816-555-1212",
      "a:",
    ],
    bad: [
      "",
      "a",
      "/a",
      "//a",
      "1a:b",
      "http:",
      "http:///a",
      "http://",
      "https://@/",
      "http://a b",
      "http://a/%zz",
      "http://a/%4",
      "http://a/[b]",
      "http://[::1",
      "http://[1::2::3]",
      "http://a:b",
      "http://ä",
      "http://a/#b#c",
      "http://a/<b>",
      "http://a\\b",
      "a:\n",
    ],
  },
  url: { good: ["https://example.org/"], bad: ["example.org"] },
  "uri-reference": {
    good: ["", "a", "/a/b?c#d", "//host/x", "../a", "?q", "#f", "http://a"],
    bad: ["a b", "%", "a[b]", "1:2", "\\a", "ä"],
  },
  uuid: {
    good: ["6fa459ea-ee8a-4ca4-894e-db77e160355e", "6FA459EA-EE8A-4CA4-894E-DB77E160355E"],
    bad: [
      "6fa459eaee8a4ca4894edb77e160355e",
      "{6fa459ea-ee8a-4ca4-894e-db77e160355e}",
      "6fa459ea-ee8a-4ca4-894e-db77e160355g",
    ],
  },
  "json-pointer": { good: ["", "/", "/a/0/~0~1", "/a//b"], bad: ["a", "/~", "/~2", "~0"] },
  regex: { good: ["^a+$", "", "\\p{L}"], bad: ["(", "[", "\\p{Nope}"] },
  byte: { good: ["", "YQ==", "YWI=", "YWJj"], bad: ["YQ", "YQ=", "Y===", "Y-I="] },
  password: { good: ["", "anything"], bad: [] },
  binary: { good: ["anything"], bad: [] },
};

const ROWS = Object.entries(TABLE).flatMap(([format, { good, bad }]) => [
  ...good.map((text) => ({ format, text, expected: true })),
  ...bad.map((text) => ({ format, text, expected: false })),
]);

describe("a format", () => {
  it.each(ROWS)("$format, $text: $expected", ({ format, text, expected }) => {
    expect(fits(format, text)).toBe(expected);
  });
});
