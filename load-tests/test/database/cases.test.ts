import { describe, expect, it } from "@jest/globals";
import { DATABASE_CASES, faultOfStored, worldsOf } from "../../src/database/cases.js";

const world = (id: number, randomnumber = 1) => ({ id, randomnumber });
const worlds = (count: number) => Array.from({ length: count }, (_, index) => world(index + 1));

function faultOf(name: string, body: unknown, contentType = "application/json", status = 200): string | null {
  const found = DATABASE_CASES.find((one) => one.name.startsWith(name));
  if (found === undefined) throw new Error(`There is no case ${name}`);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return found.check({ status, headers: { "content-type": contentType }, body: text });
}

function page(messages: readonly string[]): string {
  return messages.map((message, index) => `<tr><td>${index}</td><td>${message}</td></tr>`).join("");
}

const ESCAPED = "&lt;script&gt;alert(&quot;This should not be displayed in a browser alert box.&quot;);&lt;/script&gt;";
const FORTUNES = [ESCAPED, ..."A B C D E F G H I J K".split(" "), "フレームワークのベンチマーク"];

describe("the checks of responses with a database", () => {
  it.each([
    ["GET /db", world(10_000)],
    ["GET /queries", worlds(20)],
    ["GET /updates", worlds(20)],
  ])("accept rows in range of %s", (name, body) => {
    expect(faultOf(name, body)).toBeNull();
  });

  it.each([
    ["GET /db", world(0)],
    ["GET /db", world(10_001)],
    ["GET /db", { id: "1", randomnumber: 1 }],
    ["GET /db", { ...world(1), more: 1 }],
    ["GET /db", "no JSON"],
    ["GET /queries", worlds(19)],
    ["GET /queries", [...worlds(19), world(1)]],
    ["GET /updates", [...worlds(19), world(0)]],
  ])("reject for %s the body %j", (name, body) => {
    expect(faultOf(name, body)).toContain("expected");
  });

  it("reject another status", () => {
    expect(faultOf("GET /db", world(1), "application/json", 500)).toBe("GET /db: got 500");
  });

  it("accept fortunes that are escaped and in order", () => {
    expect(faultOf("GET /fortunes", page(FORTUNES), "text/html; charset=utf-8")).toBeNull();
  });

  it.each([
    ["text/html", page(FORTUNES), "text/plain"],
    ["13 rows", page(FORTUNES.slice(1)), "text/html"],
    ["the script to be escaped", page([ESCAPED.replace("&lt;", "<"), ...FORTUNES.slice(1)]), "text/html"],
    ["UTF-8", page([...FORTUNES.slice(0, -1), "L"]), "text/html"],
    ["the order of their messages", page([ESCAPED, "B", "A", ...FORTUNES.slice(3)]), "text/html"],
  ])("reject fortunes without %s", (wanted, body, contentType) => {
    expect(faultOf("GET /fortunes", body, contentType)).toContain(wanted);
  });

  it("find a row that was in a response but not stored", () => {
    const answered = worldsOf(JSON.stringify([world(1, 5), world(2, 6)]));
    expect(faultOfStored(answered, [world(2, 6), world(1, 5)])).toBeNull();
    expect(faultOfStored(answered, [world(2, 7), world(1, 5)])).toBe("the row 2 was in a response but was not stored");
    expect(faultOfStored(answered, [world(1, 5)])).toBe("the row 2 was in a response but was not stored");
  });
});
