import { describe, expect, it } from "@jest/globals";
import type { SendMessage } from "../../src/protocol/asgi.js";
import { headerValues } from "../../src/protocol/header-list.js";
import { App, HeaderList } from "../../src/index.js";

describe("a HeaderList", () => {
  it("returns names in lower case and values as latin-1 bytes", () => {
    const headers = new HeaderList(["X-Name", "caf\u00e9", "content-type", "text/plain"]);
    const text = [...headers].map((pair) => pair.map((bytes) => Buffer.from(bytes).toString("latin1")));
    expect(text).toEqual([
      ["x-name", "caf\u00e9"],
      ["content-type", "text/plain"],
    ]);
    expect(headers.length).toBe(2);
    expect(() => [...new HeaderList(["a", "\u0100"])]).toThrow("Expected latin-1 text");
  });

  it("calls a function for its names and values once, and only on access", () => {
    let calls = 0;
    const headers = new HeaderList(() => [`X-${++calls}`, "a"]);
    expect(calls).toBe(0);
    expect(headers.length).toBe(1);
    expect([...headers][0]?.[0]).toEqual(Buffer.from("x-1"));
    expect(headers.raw).toEqual(["X-1", "a"]);
    expect(calls).toBe(1);
  });

  it("is not needed to find a header by its whole name, in any case", () => {
    const pairs = [
      ["Cookie2", "1"],
      ["COOKIE", "a=1"],
      ["cooki", "2"],
      ["cookie", "b=2"],
    ] as const;
    const headers = pairs.map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const);
    expect(headerValues(headers, "cookie")).toEqual(["a=1", "b=2"]);
  });

  it("keeps common names and values encoded: every response has the same bytes", async () => {
    const app = new App();
    app.get("/", async () => ({ ok: true }));
    const sent: SendMessage[] = [];
    for (let count = 0; count < 2; count++) {
      await app(
        { type: "http", method: "GET", path: "/" },
        () => Promise.reject(new Error()),
        (message) => void sent.push(message),
      );
    }
    const [first, second] = sent
      .filter((message) => message.type === "http.response.start")
      .map(({ headers = [] }) => [...headers]);
    expect(first?.[0]?.[0]).toBe(second?.[0]?.[0]); // content-type
    expect(first?.[0]?.[1]).toBe(second?.[0]?.[1]); // application/json
    expect(first?.[1]?.[0]).toBe(second?.[1]?.[0]); // content-length
  });
});
