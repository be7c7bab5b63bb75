import { describe, expect, it } from "@jest/globals";
import { EXAMPLES, faultOf, PROOFS, SOCKET_EXAMPLES, type Example } from "../src/examples.js";

const [health] = EXAMPLES as [Example];
const refused = PROOFS.find(({ status }) => status === "refused") as Example;
const right = { status: 200, contentType: "application/json; charset=utf-8", body: '{ "status": "ok" }' };

describe("faultOf", () => {
  it("accepts a right response with any JSON layout", () => {
    expect(faultOf(health, right)).toBeNull();
  });

  it.each([
    [{ ...right, status: 201 }, "expected the status 200, got 201"],
    [{ ...right, contentType: "text/html" }, 'expected application/json, got "text/html"'],
    [{ ...right, contentType: "application/jsonlines" }, "expected application/json"],
    [{ ...right, body: '{"status":"OK"}' }, 'expected {"status":"ok"}, got {"status":"OK"}'],
    [{ ...right, body: '{"status":"ok","more":1}' }, "expected"],
    [{ ...right, body: "ok" }, "expected"],
    [{ ...right, body: "" }, "expected"],
  ])("finds the error of %j", (answer, fault) => {
    expect(faultOf(health, answer)).toContain(fault);
  });

  it.each([400, 422, 499])("treats %d as a rejection", (status) => {
    expect(faultOf(refused, { status, contentType: "", body: "" })).toBeNull();
  });

  it.each([201, 399, 500])("does not treat %d as a rejection", (status) => {
    expect(faultOf(refused, { status, contentType: "", body: "" })).toContain("expected the status refused");
  });
});

describe("the request of a browser", () => {
  it("has 1 KB of header lines", () => {
    const { headers = {} } = SOCKET_EXAMPLES.at(-1) as Example;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    expect(lines.join("").length).toBeGreaterThan(950);
    expect(lines.join("").length).toBeLessThan(1100);
  });
});
