import { describe, expect, it } from "@jest/globals";
import type { HTTPScope } from "../../../src/protocol/asgi.js";
import { Request } from "../../../src/http/request.js";

const HEADERS: [Uint8Array, Uint8Array][] = [
  [Buffer.from("content-type"), Buffer.from("application/x-www-form-urlencoded")],
];

function requestOf(body: Uint8Array): Request {
  const scope = { type: "http", method: "POST", path: "/", headers: HEADERS } as HTTPScope;
  return new Request(scope, () => Promise.resolve({ type: "http.request", body, more_body: false }));
}

describe("an urlencoded form", () => {
  // WHATWG URL §5.1, which `URLSearchParams` implements.
  it.each([
    "a=1&b=2",
    "a=1+1&b+c=+",
    "a=1%2B1&a=%2b",
    "+",
    "a&b=&=c&&=",
    "a==&b=c=d",
    "%C3%A9=%e2%82%ac",
    "é=€",
    "a=%&b=%z+z&c=%2",
    "a=%FF%+%C3",
    "__proto__=1&constructor=+",
  ])("is read as the standard has it: %s", async (text) => {
    const form = await requestOf(Buffer.from(text)).form();
    expect([...form]).toEqual([...new URLSearchParams(text)]);
  });

  it("treats a question mark at its beginning as a part of the first name", async () => {
    expect([...(await requestOf(Buffer.from("?a=1+1")).form())]).toEqual([["?a", "1 1"]]);
  });

  it("keeps the bytes of the body as received", async () => {
    const request = requestOf(Buffer.from("a=1+1"));
    await request.form();
    expect(await request.text()).toBe("a=1+1");
  });

  it.each(["+", "%2B", "%", "%ff", "%+", "=", "?", "é", "__proto__"])("of 1 MiB of %s is read whole", async (unit) => {
    const text = Buffer.from(unit.repeat(Math.ceil(1_000_000 / unit.length))).subarray(0, 1_000_000);
    const [[name = "", value] = []] = await requestOf(text).form();
    const [expected] = new URLSearchParams(`&${text.toString()}`); // a question mark at the very beginning is its own
    expect([name === expected?.[0], value === expected?.[1]]).toEqual([true, true]); // a megabyte should not be printed
  });
});
